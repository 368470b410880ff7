package tenants

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
)

// Every statement has lost its condition on the tenant. The statements of the product are also
// checked against the rules of a database that distributes tenants over servers.
func TestRowLevelSecurityAlone(t *testing.T) {
	t.Parallel()
	var p *proxy
	w := newFixture(t, func(socket, _ string) string {
		p = newProxy(t, socket)
		u := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: p.address, Path: "/postgres", RawQuery: "sslmode=disable"}
		return u.String()
	})
	other := apart(t, w)
	assertRowSecurity(t, w, "1", other.id)
	t.Logf("%d statements lost their condition", p.count())
	assert.Greater(t, p.count(), 100, "the statements of the stores")
	assertDistributable(t, w, p.listStatements())
}

// The database no longer keeps tenants apart.
func TestStatementsAlone(t *testing.T) {
	t.Parallel()
	w := newFixture(t, func(_, direct string) string { return direct })
	for _, service := range services {
		for _, table := range append(w.tables(t, service), map[string]string{"auth": "tenant"}[service]) {
			if table == "" {
				continue
			}
			_, err := w.admin[service].Exec(t.Context(), fmt.Sprintf("ALTER TABLE %s DISABLE ROW LEVEL SECURITY", pgx.Identifier{table}.Sanitize()))
			require.NoError(t, err)
		}
	}
	other := apart(t, w)
	checkSwitchedOff(t, w, other)
}

// checkSwitchedOff disables a tenant and enables it again.
func checkSwitchedOff(t *testing.T, w *fixture, m member) {
	t.Helper()
	expectStatus := func(status int) {
		t.Helper()
		for _, path := range []string{"/v1/auth/clients", "/v1/commons/persons/1", "/v1/timekeeping/setup/employment_terms", "/v1/scheduling/shift_templates/1", "/v1/platform/rate_limits"} {
			launch.Await(t, time.Second, path, func() bool {
				got, err := contract.Send(t.Context(), m.Target, m.host, contract.RecordedStep{Step: contract.Step{Do: "GET " + path}})
				require.NoError(t, err)
				return (got.Status == http.StatusUnauthorized) == (status == http.StatusUnauthorized)
			})
		}
	}
	expectStatus(http.StatusOK)
	assert.Contains(t, w.operate(t, "disable", m.id), "disabled")
	expectStatus(http.StatusUnauthorized)
	_, err := m.login(t)
	require.ErrorContains(t, err, "invalid_client")
	listed := m.id + ` +` + m.host + ` +disabled since `
	assert.Regexp(t, listed, w.operate(t, "list"))
	out, errs, code := launch.Run(t, launch.Build(t, "services/auth/cmd/auth"), nil, "tenant", "list",
		"--database-url", w.database.AdminURL("rotaloom_auth")+"&role="+localpg.Role)
	require.Zero(t, code, errs)
	assert.Regexp(t, listed, out, "the program of the service has the same commands")
	w.operate(t, "enable", m.id)
	expectStatus(http.StatusUnauthorized)
	m.Token, err = m.login(t)
	require.NoError(t, err)
	expectStatus(http.StatusOK)
}

// Operators find the private database of the standalone program.
func TestOperatorsReachThePrivateDatabase(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	w := &fixture{Server: server, binary: launch.Build(t, "services/standalone/cmd/rotaloom"), place: []string{"--state-dir", server.StateDir}}
	m := w.tenant(t, "second")
	assert.Regexp(t, `1 +\(all others\) +enabled +real time +default\n`+m.id+` +`+m.host+` +enabled +real time +second\n`, w.operate(t, "list"))
	_, errs, code := launch.Run(t, w.binary, nil, append([]string{"tenant", "create", "third", "--host", m.host}, w.place...)...)
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "another tenant has the host name")
	_, errs, code = launch.Run(t, w.binary, nil, "tenant", "list", "--state-dir", t.TempDir())
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "there is no server in")
}

// apart shows that tenants cannot learn of each other.
func apart(t *testing.T, w *fixture) member {
	t.Helper()
	other, blank := w.tenant(t, "other"), w.tenant(t, "blank")
	owner := launch.Login(t, w.Client, w.Ready)
	begin(t, owner)
	w.idsFrom(t, ownedFrom)
	owned := fill(t, owner)
	w.idsFrom(t, othersFrom)
	require.False(t, t.Failed())
	began := time.Now()
	before := w.awaitSettled(t, "1", began)
	replay(t, owned, other, blank)
	after := w.awaitSettled(t, "1", began)
	for table, rows := range before {
		assert.Equal(t, rows, after[table], "%s: nothing of the owner was changed", table)
	}
	_, err := contract.Login(t.Context(), owner)
	require.NoError(t, err)
	return other
}

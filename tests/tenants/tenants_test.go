package tenants

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/launch"
)

// Every statement has lost the condition that says whose rows it means.
func TestRowLevelSecurityAlone(t *testing.T) {
	t.Parallel()
	var p *proxy
	w := newWorld(t, func(socket, _ string) string {
		p = newProxy(t, socket)
		u := url.URL{Scheme: "postgres", User: url.User("postgres"), Host: p.address, Path: "/postgres", RawQuery: "sslmode=disable"}
		return u.String()
	})
	other := apart(t, w)
	guarded(t, w, "1", other.id)
	t.Logf("%d statements lost their condition", p.count())
	assert.Greater(t, p.count(), 100, "the statements of the stores")
}

// The database no longer keeps tenants apart.
func TestStatementsAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(_, direct string) string { return direct })
	for _, service := range services {
		for _, table := range append(w.tables(t, service), map[string]string{"auth": "tenant"}[service]) {
			if table == "" {
				continue
			}
			_, err := w.admin[service].Exec(t.Context(), fmt.Sprintf("ALTER TABLE %s DISABLE ROW LEVEL SECURITY", pgx.Identifier{table}.Sanitize()))
			require.NoError(t, err)
		}
	}
	apart(t, w)
}

// apart shows that tenants know nothing of each other.
func apart(t *testing.T, w *world) member {
	t.Helper()
	other, blank := w.tenant(t, "other"), w.tenant(t, "blank")
	owner := launch.Login(t, w.Client, w.Ready)
	begin(t, owner)
	w.idsFrom(t, ownedFrom)
	owned := fill(t, owner)
	w.idsFrom(t, othersFrom)
	require.False(t, t.Failed())
	before := w.settled(t, "1")
	replay(t, owned, other, blank)
	assert.Equal(t, before, w.settled(t, "1"), "nothing of the owner was changed")
	_, err := contract.Login(t.Context(), owner)
	require.NoError(t, err)
	return other
}

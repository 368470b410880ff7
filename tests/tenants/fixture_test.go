package tenants

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/contract"
	"github.com/rotaloom/rotaloom/tests/contract/cases"
	"github.com/rotaloom/rotaloom/tests/launch"
)

// services have a database each.
var services = []string{"auth", "commons", "timekeeping", "scheduling", "platform"}

// fixture is the product with its database server.
type fixture struct {
	*launch.Server
	database *localpg.Server
	binary   string
	// place says how operators reach the database server.
	place []string
	// admin are connections as a superuser, whom row-level security does not bind.
	admin map[string]*pgx.Conn
}

// newFixture starts the product on a database server of its own, which it reaches by
// the URL that through returns.
func newFixture(t *testing.T, through func(socket, direct string) string) *fixture {
	t.Helper()
	dir := t.TempDir()
	// Root runs the database as another user, who must get there.
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	database, err := localpg.Start(t.Context(), localpg.Config{Dir: filepath.Join(dir, "pg"), Disposable: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Stop(context.Background())) })
	direct := database.AdminURL("postgres")
	parsed, err := url.Parse(direct)
	require.NoError(t, err)
	w := &fixture{
		database: database, admin: map[string]*pgx.Conn{}, binary: launch.Build(t, "services/standalone/cmd/rotaloom"),
	}
	address := through(filepath.Join(parsed.Query().Get("host"), ".s.PGSQL."+parsed.Query().Get("port")), direct)
	w.place = []string{"--database-url", address}
	w.Server = launch.StandaloneIn(t, filepath.Join(dir, "state"), nil, w.place...)
	for _, service := range services {
		conn, err := pgx.Connect(t.Context(), database.AdminURL("rotaloom_"+service))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		w.admin[service] = conn
	}
	return w
}

// member is a tenant with an administrator who is logged in.
type member struct {
	contract.Target
	host, id string
}

// operate runs a command of an operator.
func (w *fixture) operate(t *testing.T, args ...string) string {
	t.Helper()
	args = append(append([]string{"tenant"}, args...), w.place...)
	out, errs, code := launch.Run(t, w.binary, nil, args...)
	require.Zero(t, code, "%v: %s", args, errs)
	return out
}

// tenant makes a tenant.
func (w *fixture) tenant(t *testing.T, name string) member {
	t.Helper()
	m := member{host: name + ".example.org"}
	out := w.operate(t, "create", name, "--host", m.host)
	values := map[string]string{}
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		values[key] = value
	}
	m.id = values["tenant"]
	m.Target = contract.Target{BaseURL: w.BaseURL, Client: w.Client, Values: values}
	token, err := m.login(t)
	require.NoError(t, err)
	m.Token = token
	return m
}

// login logs the administrator of a tenant in, by its host name.
func (m member) login(t *testing.T) (string, error) {
	t.Helper()
	target := m.Target
	target.Client = &http.Client{Transport: hosted{m.host, m.Client.Transport}, Timeout: time.Minute}
	return contract.Login(t.Context(), target)
}

// hosted calls by a host name.
type hosted struct {
	host string
	http.RoundTripper
}

func (h hosted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = h.host
	return h.RoundTripper.RoundTrip(r)
}

// removes reports the steps that would take away what the others are to be tried on.
func removes(step contract.Step) bool {
	return strings.HasPrefix(step.Do, "DELETE ") || strings.Contains(step.Do, "delete")
}

// begin runs the contract case that goes by the first id that there is.
func begin(t *testing.T, target contract.Target) {
	t.Helper()
	all, err := contract.Load(cases.FS)
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(c contract.Case) bool { return c.Path == "scheduling/propagation/read" })
	require.GreaterOrEqual(t, i, 0, "the case is there")
	require.NoError(t, contract.Run(t.Context(), target, all[i]))
}

// fill runs all contract cases, up to where they remove what they made, so that a
// tenant has objects of every resource, and returns what was asked.
func fill(t *testing.T, target contract.Target) []contract.RecordedStep {
	t.Helper()
	all, err := contract.Load(cases.FS)
	require.NoError(t, err)
	asked := make([][]contract.RecordedStep, len(all))
	t.Run("fill", func(t *testing.T) {
		for i, c := range all {
			t.Run(c.Path, func(t *testing.T) {
				t.Parallel()
				var err error
				asked[i], err = contract.Record(t.Context(), target, c, removes)
				require.NoError(t, err)
			})
		}
	})
	var flat []contract.RecordedStep
	for _, steps := range asked {
		flat = append(flat, steps...)
	}
	return flat
}

// tables returns the tables of a database whose rows belong to tenants.
func (w *fixture) tables(t *testing.T, service string) []string {
	t.Helper()
	rows, err := w.admin[service].Query(t.Context(), `SELECT c.relname::text FROM pg_class c
		JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
		WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace ORDER BY 1`)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

// volatileTable is the table in which edges note by themselves what they did not use of a
// rate.
const volatileTable = "rate_bucket"

// late is the table of what was done and refused. Refusals come to it some seconds
// later than they happen, with the time at which they did.
const late = "audit_event"

// purged is the table of events, from which those go by themselves that were sent some
// minutes ago.
const purged = "outbox"

// What is sent to people by itself goes on meanwhile: deliveries have another state, and
// further attempts. Of them only which there are is compared.
const delivery, attempt = "notification_delivery", "notification_attempt"

// rows returns a fingerprint of what a tenant has in each table but the restless ones,
// and of refusals and events only those since then.
func (w *fixture) rows(t *testing.T, tenant string, then time.Time) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, service := range services {
		for _, table := range w.tables(t, service) {
			if table == volatileTable || table == attempt {
				continue
			}
			row, where, args := "r::text", "tenant_id = $1::text::bigint", []any{tenant}
			switch table {
			case delivery:
				row = "r.id::text"
			case late:
				where, args = where+" AND (outcome = 'ok' OR occurred_at >= $2)", append(args, then)
			case purged:
				where, args = where+" AND created_at >= $2", append(args, then)
			}
			var print string
			name := pgx.Identifier{table}.Sanitize()
			err := w.admin[service].QueryRow(t.Context(), fmt.Sprintf(
				`SELECT count(*) || ' ' || coalesce(md5(string_agg(%[1]s, '|' ORDER BY %[1]s)), '') FROM %[2]s r WHERE %[3]s`, row, name, where), args...).Scan(&print)
			require.NoError(t, err)
			all[service+"."+table] = print
		}
	}
	return all
}

// idsFrom lets all new ids begin at a number, and no sequence go back: that is what a
// database does which was restored.
func (w *fixture) idsFrom(t *testing.T, first int) {
	t.Helper()
	for _, service := range services {
		_, err := w.admin[service].Exec(t.Context(), `SELECT setval(c.oid, greatest($1, pg_sequence_last_value(c.oid))) FROM pg_class c
			WHERE c.relkind = 'S' AND c.relnamespace = 'public'::regnamespace`, first)
		require.NoError(t, err)
	}
}

// settled returns rows once nothing is applied any more.
func (w *fixture) settled(t *testing.T, tenant string, then time.Time) map[string]string {
	t.Helper()
	last := w.rows(t, tenant, then)
	since := time.Now()
	launch.Await(t, time.Minute, "nothing is applied any more", func() bool {
		now := w.rows(t, tenant, then)
		if !maps.Equal(now, last) {
			last, since = now, time.Now()
		}
		return time.Since(since) > time.Second
	})
	return last
}

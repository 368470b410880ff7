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

// services lists the services, which have a database each.
var services = []string{"auth", "commons", "timekeeping", "scheduling", "recruiting", "platform"}

// fixture is the product with its database server.
type fixture struct {
	*launch.Server
	database *localpg.Server
	binary   string
	// place holds the arguments for connections of operators to the database server.
	place []string
	// admin are connections as a superuser, who bypasses row-level security.
	admin map[string]*pgx.Conn
}

// newFixture starts the product on a database server of its own. The product reaches it by the URL
// that through returns.
func newFixture(t *testing.T, through func(socket, direct string) string) *fixture {
	t.Helper()
	dir := t.TempDir()
	// Root runs the database as another user, who needs access to the folder.
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

// member is a tenant with a logged-in administrator.
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

// tenant creates a tenant.
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

// login logs in the administrator of a tenant, through its host name.
func (m member) login(t *testing.T) (string, error) {
	t.Helper()
	target := m.Target
	target.Client = &http.Client{Transport: hosted{m.host, m.Client.Transport}, Timeout: time.Minute}
	return contract.Login(t.Context(), target)
}

// hosted sends requests with a host name.
type hosted struct {
	host string
	http.RoundTripper
}

func (h hosted) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Host = h.host
	return h.RoundTripper.RoundTrip(r)
}

// removes reports whether a step deletes objects that the tests need later.
func removes(step contract.Step) bool {
	return strings.HasPrefix(step.Do, "DELETE ") || strings.Contains(step.Do, "delete")
}

// begin runs the contract case that relies on the first assigned id.
func begin(t *testing.T, target contract.Target) {
	t.Helper()
	all, err := contract.Load(cases.FS)
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(c contract.Case) bool { return c.Path == "scheduling/propagation/read" })
	require.GreaterOrEqual(t, i, 0, "the case is there")
	require.NoError(t, contract.Run(t.Context(), target, all[i]))
}

// fill runs all contract cases, up to the steps that delete their objects, so that a tenant has
// objects of every resource. It returns the sent requests.
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

// volatileTable names the table that edges write in the background, to record unused rates.
const volatileTable = "rate_bucket"

// late is the table of the audit log. Refusals are written to it some seconds after they happen,
// with the time of the refusal.
const late = "audit_event"

// purged is the table of events. A background job deletes the events that were sent some minutes
// ago.
const purged = "outbox"

// The background job of deliveries runs in the meantime: it changes their states and adds attempts.
// Only the keys of these rows are compared.
const delivery, attempt = "notification_delivery", "notification_attempt"

// rows returns a fingerprint of a tenant's rows in each table, except the tables that change in the
// background. Of refusals and events it covers only those since then.
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

// idsFrom raises all sequences to a number. It never sets one back, because that would look like a
// restored database.
func (w *fixture) idsFrom(t *testing.T, first int) {
	t.Helper()
	for _, service := range services {
		_, err := w.admin[service].Exec(t.Context(), `SELECT setval(c.oid, greatest($1, pg_sequence_last_value(c.oid))) FROM pg_class c
			WHERE c.relkind = 'S' AND c.relnamespace = 'public'::regnamespace`, first)
		require.NoError(t, err)
	}
}

// awaitSettled returns rows as soon as no change is being applied.
func (w *fixture) awaitSettled(t *testing.T, tenant string, then time.Time) map[string]string {
	t.Helper()
	last := w.rows(t, tenant, then)
	since := time.Now()
	launch.Await(t, time.Minute, "all changes are applied", func() bool {
		now := w.rows(t, tenant, then)
		if !maps.Equal(now, last) {
			last, since = now, time.Now()
		}
		return time.Since(since) > time.Second
	})
	return last
}

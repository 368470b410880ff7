package operation

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// Verify finds shifts that contradict the rules, and reports them by its exit code.
func TestVerifyFindsDifferences(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	o := newOperator(t)
	api := scenario.API{Target: server.Target(t)}
	crew, err := scenario.NewCrew(t.Context(), api, 12, "2026-01-01")
	require.NoError(t, err)
	assigned, err := crew.Assign(t.Context(), api, scenario.Pattern("D-", map[string]scenario.Object{"D": scenario.Shift("D", "08:00", "16:30", false)}), "2026-03-02", "", 0)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = scenario.Finish(ctx, api, assigned.Propagation)
	require.NoError(t, err)

	type report struct {
		Employees, Different int
		Differences          []struct{ Employee, MissingSpans int64 }
		Copies               []struct {
			Service, Topic string
			DifferentKeys  int
		}
	}
	var found report
	launch.Await(t, time.Minute, "all propagations have finished", func() bool {
		found = report{}
		var unfinished struct{ UnfinishedPropagations int }
		o.read(&unfinished, "verify", "--state-dir", server.StateDir)
		return unfinished.UnfinishedPropagations == 0
	})
	o.read(&found, "verify", "--state-dir", server.StateDir)
	require.Equal(t, 12, found.Employees)
	require.Zero(t, found.Different)
	require.Contains(t, o.run("verify", "--state-dir", server.StateDir), "12 employees with 12 spans and 0 edited entries: 0 differ; 0 propagations")

	compared := map[string]bool{}
	for _, c := range found.Copies {
		require.Zero(t, c.DifferentKeys, c.Topic)
		compared[c.Service+" "+c.Topic] = true
	}
	for _, copied := range []string{"scheduling persons", "scheduling leave_edits", "timekeeping persons", "commons memberships", "commons schedule_spans", "commons entered_shifts"} {
		require.True(t, compared[copied], "%s: %v", copied, found.Copies)
	}

	timekeeping := openDatabase(t, server, "rotaloom_timekeeping")
	_, err = timekeeping.Exec(t.Context(), "UPDATE replica_head SET mark = mark - 1 WHERE tenant_id = 1 AND topic = 'persons' AND key = $1", crew.Persons[5])
	require.NoError(t, err)
	out, errs, code := o.try("verify", "--state-dir", server.StateDir)
	require.Equal(t, 3, code, errs)
	require.Contains(t, errs, "the copies differ from their owners in 1 keys")
	require.Contains(t, out, "copy of persons in timekeeping: 1 keys")
	require.Contains(t, out, "copy of persons in scheduling: 0 keys")

	conn := openDatabase(t, server, "rotaloom_scheduling")
	_, err = conn.Exec(t.Context(), `INSERT INTO leave_edit (tenant_id, id, employee_id, from_day, to_day, version, body)
		VALUES (1, 999, $1, '2026-03-02', '2026-03-02', 1, '')`, crew.Persons[4])
	require.NoError(t, err)
	out, _, code = o.try("verify", "--state-dir", server.StateDir)
	require.Equal(t, 3, code)
	require.Contains(t, out, "copy of leave_edits in scheduling: 1 keys", "timekeeping knows no such leave")
	_, err = conn.Exec(t.Context(), "DELETE FROM leave_edit WHERE tenant_id = 1 AND id = 999")
	require.NoError(t, err)

	done, err := conn.Exec(t.Context(), "DELETE FROM span WHERE tenant_id = 1 AND employee_id = $1", crew.Persons[3])
	require.NoError(t, err)
	require.EqualValues(t, 1, done.RowsAffected())

	out, errs, code = o.try("verify", "--state-dir", server.StateDir)
	require.Equal(t, 3, code, errs)
	require.Contains(t, errs, "the schedules of 1 employees are not what the rules say")
	require.Contains(t, out, ": 1 spans are missing, 0 should not be there")
	_, _, code = o.try("verify", "--state-dir", t.TempDir())
	require.Equal(t, 1, code, "it could not look")
}

// openDatabase connects to a database of a server for the default tenant.
func openDatabase(t *testing.T, server *launch.Server, database string) *pgx.Conn {
	t.Helper()
	url, err := localpg.RunningURL(filepath.Join(server.StateDir, "postgresql"), database)
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.Background())) })
	_, err = conn.Exec(t.Context(), "SELECT set_config('rotaloom.tenant_id', '1', false)")
	require.NoError(t, err)
	return conn
}

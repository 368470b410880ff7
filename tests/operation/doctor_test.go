package operation

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// finding is the doctor's report of one check.
type finding struct{ Check, State, Found, Do string }

// examine runs doctor, and returns its findings by name, with its exit code.
func (o operator) examine(args ...string) (map[string]finding, int) {
	o.t.Helper()
	var found []finding
	out, errs, code := o.try(append([]string{"doctor", "--output", "json"}, args...)...)
	require.Contains(o.t, []int{0, 3}, code, errs)
	require.NoError(o.t, json.Unmarshal([]byte(out), &found), out)
	byName := map[string]finding{}
	for _, f := range found {
		byName[f.Check] = f
		assert.Equal(o.t, f.State == "ok" || f.State == "skipped", f.Do == "", "%+v: it says what to do when there is something to do", f)
	}
	require.Len(o.t, byName, len(found), "each has a name of its own")
	return byName, code
}

func TestDoctorPassesAHealthyServer(t *testing.T) {
	t.Parallel()
	port := launch.FreeAddress(t)
	server := launch.Standalone(t, "--admin-address", port)
	o := newOperator(t)
	found, _ := o.examine("--state-dir", server.StateDir, "--probes", "http://"+port)
	for _, check := range []string{
		"state folder", "server", "certificate ca.pem", "certificate localhost.pem", "database server", "clocks", "database auth", "database commons",
		"database timekeeping", "database scheduling", "database recruiting", "database platform", "dead letters of scheduling", "time zones",
		"times of auth", "times of commons", "times of timekeeping", "times of scheduling", "times of recruiting", "times of platform", "process " + port,
	} {
		assert.Equal(t, "ok", found[check].State, "%s: %+v", check, found[check])
	}
	assert.Equal(t, "skipped", found["NATS"].State)
	assert.Contains(t, found, "disk")

	// The clock was ahead, and is right again.
	for database, statement := range map[string]string{
		"scheduling": "SELECT setval('schedule_revision', (extract(epoch FROM clock_timestamp() + interval '3 hours') * 1000000)::bigint)",
		"commons": `INSERT INTO audit_event (tenant_id, occurred_at, user_name, person_id, client_id, service, operation, objects, request_id, outcome)
			VALUES (1, clock_timestamp() + interval '60 days', '', 0, '', '', 'Test', '{}', '', 'ok')`,
	} {
		_, err := openDatabase(t, server, "rotaloom_"+database).Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	found, _ = o.examine("--state-dir", server.StateDir, "--probes", "http://"+port)
	assert.Equal(t, "warning", found["times of scheduling"].State)
	assert.Regexp(t, `is (3h0|2h5\d)m\d+s ahead of the clock`, found["times of scheduling"].Found)
	assert.Equal(t, "warning", found["times of commons"].State)
	assert.Regexp(t, `is (1440h0|1439h5\d)m\d+s ahead of the clock`, found["times of commons"].Found)
	assert.Equal(t, "ok", found["times of auth"].State)
}

func TestDoctorSaysWhatToDo(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	t.Run("nothing is there", func(t *testing.T) {
		found, code := operator{t, o.binary, o.contexts}.examine("--state-dir", filepath.Join(t.TempDir(), "none"))
		assert.Equal(t, 3, code)
		assert.Contains(t, found["state folder"].Do, "rotaloom serve --state-dir")
		assert.Equal(t, "failed", found["database auth"].State)
	})
	t.Run("secrets that others read, and a server that is away", func(t *testing.T) {
		server := launch.Standalone(t)
		server.Stop(t)
		require.NoError(t, os.Chmod(filepath.Join(server.StateDir, "credentials.json"), 0o644))
		o := operator{t, o.binary, o.contexts}
		found, code := o.examine("--state-dir", server.StateDir)
		assert.Equal(t, 3, code)
		assert.Equal(t, "chmod 600 "+filepath.Join(server.StateDir, "credentials.json"), found["state folder"].Do)
		assert.Equal(t, "skipped", found["server"].State)
		assert.Contains(t, found["database auth"].Do, "start the server")
		out, errs, code := o.try("doctor", "--state-dir", server.StateDir)
		assert.Equal(t, 3, code)
		assert.Regexp(t, `checks failed\n$`, errs)
		assert.Regexp(t, `(?m)^ +-> chmod 600 `, out)
	})
	t.Run("engines that do not answer", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, listener.Close())
		nobody := listener.Addr().String()
		none := filepath.Join(t.TempDir(), "none.pem")
		found, code := operator{t, o.binary, o.contexts}.examine("--state-dir", filepath.Join(t.TempDir(), "none"),
			"--database-url", "postgres://rotaloom@"+nobody+"/postgres", "--nats-url", "nats://"+nobody, "--probes", "http://"+nobody, "--certificates", none)
		assert.Equal(t, 3, code)
		assert.Equal(t, "skipped", found["state folder"].State)
		for _, check := range []string{"database auth", "NATS", "process " + nobody, "certificate none.pem"} {
			assert.Equal(t, "failed", found[check].State, "%s: %+v", check, found[check])
		}
	})
}

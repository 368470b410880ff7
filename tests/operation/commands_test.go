package operation

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// A wrong number of a tenant is an error, not an empty result.
func TestCommandsRefuseUnknownTenants(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	o := newOperator(t)
	for _, command := range []string{
		"verify --tenant 99", "backfill --tenant 99", "backfill --tenant 99 --service scheduling persons", "deadletter list --tenant 99",
		"deadletter replay --tenant 99", "deadletter list --tenant 99 --service scheduling", "propagation replay --tenant 99 1", "user list 99",
		"user unlock 99 admin", "user reset-password 99 admin", "tenant disable 99", "tenant enable 99", "verify --tenant=-1", "verify --tenant 0",
	} {
		t.Run(command, func(t *testing.T) {
			for _, output := range []string{"table", "json"} {
				out, errs, code := o.try(append(strings.Fields(command), "--state-dir", server.StateDir, "--output", output)...)
				assert.Equal(t, 1, code, out)
				assert.Empty(t, out)
				assert.Regexp(t, "there is no such tenant; tenant list shows the tenants\n$", errs)
			}
		})
	}
}

func TestCommandsListEverythingWithoutIDs(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	o := newOperator(t)
	place := []string{"--state-dir", server.StateDir}
	var created struct{ Tenant int64 }
	o.read(&created, append([]string{"tenant", "create", "other", "--host", "other.example.org", "--admin", "chief"}, place...)...)
	var users []struct {
		Tenant   int64
		Username string
	}
	o.read(&users, append([]string{"user", "list"}, place...)...)
	require.Len(t, users, 2)
	assert.EqualValues(t, 1, users[0].Tenant)
	assert.Equal(t, created.Tenant, users[1].Tenant)
	assert.Equal(t, "chief", users[1].Username)
	assert.Regexp(t, `(?m)^`+strconv.FormatInt(created.Tenant, 10)+` +chief +Administrator +may log in$`, o.run(append([]string{"user", "list"}, place...)...))

	for _, service := range []string{"commons", "scheduling"} {
		_, err := openDatabase(t, server, "rotaloom_"+service).Exec(t.Context(), `
			INSERT INTO dead_letter (tenant_id, consumer, event_id, subject, event, payload, request_id, traceparent, delivery, published_at, reason)
			VALUES (1, 'nobody', gen_random_uuid(), 'rotaloom.test', 'rotaloom.test', '', '', '', 1, now(), 'as a test')`)
		require.NoError(t, err)
	}
	var letters []struct {
		Service string
		ID      int64
	}
	o.read(&letters, append([]string{"deadletter", "list"}, place...)...)
	require.Len(t, letters, 2)
	assert.ElementsMatch(t, []string{"commons", "scheduling"}, []string{letters[0].Service, letters[1].Service})
	assert.Regexp(t, `(?m)^scheduling +\d+ +tenant 1 +nobody`, o.run(append([]string{"deadletter", "list"}, place...)...))

	_, errs, code := o.try(append([]string{"deadletter", "replay", strconv.FormatInt(letters[0].ID, 10)}, place...)...)
	assert.Equal(t, 1, code)
	assert.Contains(t, errs, "name the service of these (--service)")
	var replayed struct{ Replayed int }
	o.read(&replayed, append([]string{"deadletter", "replay"}, place...)...)
	assert.Equal(t, 2, replayed.Replayed)
}

// Commands that only report success have JSON output, too.
func TestCommandsThatReportSuccessPrintJSON(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	o := newOperator(t)
	place := []string{"--state-dir", server.StateDir}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"user", "unlock", "1", server.Credentials.Username}, `{"tenant":1,"username":"` + server.Credentials.Username + `"}`},
		{[]string{"tenant", "disable", "1"}, `{"enabled":false,"tenant":1}`},
		{[]string{"tenant", "enable", "1"}, `{"enabled":true,"tenant":1}`},
		{[]string{"backfill", "persons", "--service", "scheduling"}, `{"service":"scheduling","tenant":1,"topics":["persons"]}`},
	} {
		t.Run(strings.Join(c.args[:2], " "), func(t *testing.T) {
			assert.Equal(t, c.want+"\n", o.run(append(append(c.args, place...), "--output", "json")...))
		})
	}
	followed := o.run(append([]string{"backfill", "--follow", "--output", "json"}, place...)...)
	services := map[string]bool{}
	for line := range strings.Lines(followed) {
		var found struct {
			Service string
			Missing map[string]int64
		}
		require.NoError(t, json.Unmarshal([]byte(line), &found), line)
		services[found.Service] = found.Missing != nil && len(found.Missing) == 0
	}
	assert.Equal(t, map[string]bool{"commons": true, "timekeeping": true, "scheduling": true}, services, "the last line of each service has no missing keys")

	var replaced struct{ Replaced int }
	o.read(&replaced, append([]string{"signing-keys", "rotate"}, place...)...)
	assert.NotZero(t, replaced.Replaced)
	var backup struct{ Databases int }
	o.read(&backup, append([]string{"backup", t.TempDir() + "/backup"}, place...)...)
	assert.Equal(t, 6, backup.Databases)
	var issued struct {
		CA       string
		Programs []struct{ Program, Flags string }
	}
	o.read(&issued, "certs", t.TempDir())
	assert.Len(t, issued.Programs, 7)
	var permissions []struct{ User string }
	o.read(&permissions, "nats-permissions")
	assert.Len(t, permissions, 7)
}

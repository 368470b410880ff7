package operation

import (
	"context"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/localpg"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const throughAPI = "writes through the API, which adds the rows"

// writesNothing lists the commands that do not change data of tenants, with the reason where it is
// not obvious.
var writesNothing = map[string]string{
	"serve": "its requests have audit rows of their own", "migrate": "the schema belongs to no tenant", "demo": throughAPI,
	"tenant list": "", "user list": "", "client list": "", "deadletter list": "", "propagation list": "", "propagation show": "",
	"propagation follow": "", "propagation undo": throughAPI, "propagation pause": throughAPI, "propagation resume": throughAPI, "verify": "", "doctor": "", "certs": "", "nats-permissions": "", "version": "", "settings": "", "completion": "", "config": "",
	"backup": "files of the operator", "restore orphans": "", "restore from": "nothing runs, and restore finish leaves the row",
	"context add": "a file of the operator", "context list": "", "context use": "a file of the operator", "context remove": "a file of the operator",
}

// Every command that writes adds a row to the audit log.
func TestCommandsAreInTheAuditLog(t *testing.T) {
	t.Parallel()
	server := launch.Standalone(t)
	o := newOperator(t)
	api := scenario.API{Target: server.Target(t)}
	place := func(args ...string) []string { return append(args, "--state-dir", server.StateDir) }
	crew, assigned := working(t, api, 2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err := scenario.Finish(ctx, api, assigned.Propagation)
	require.NoError(t, err)
	require.Len(t, crew.Persons, 2)
	propagation := assigned.Propagation[strings.LastIndex(assigned.Propagation, "/")+1:]
	write := func(t *testing.T, sql string, args ...any) {
		t.Helper()
		url, err := localpg.RunningURL(filepath.Join(server.StateDir, "postgresql"), "rotaloom_scheduling")
		require.NoError(t, err)
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		defer conn.Close(context.Background())
		_, err = conn.Exec(t.Context(), "SELECT set_config('rotaloom.tenant_id', '1', false)")
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	const letter = `INSERT INTO dead_letter (tenant_id, consumer, event_id, subject, event, payload, request_id, traceparent, delivery, published_at, reason)
		VALUES (1, 'nobody', gen_random_uuid(), 'rotaloom.test', 'rotaloom.test', '', '', '', 1, now(), 'as a test')`
	// The API manages clients, so commands that end the administrator's tokens come last.
	commands := []struct {
		name string
		args []string
		// prepare creates the data that the command works on.
		prepare func(t *testing.T)
		// operation is the operation's name in the row, if it differs from name.
		operation string
		// elsewhere says that the row belongs to the tenant that the command creates.
		elsewhere bool
	}{
		{name: "client create", args: []string{"audited"}, operation: "rotaloom.auth.v1.ClientService/CreateClient"},
		{name: "client rotate-secret", args: []string{"audited"}, operation: "rotaloom.auth.v1.ClientService/RotateClientSecret"},
		{name: "client delete", args: []string{"audited"}, operation: "rotaloom.auth.v1.ClientService/DeleteClient"},
		{name: "tenant create", args: []string{"other", "--host", "other.example.org"}, elsewhere: true},
		{name: "tenant disable", args: []string{"1"}},
		{name: "tenant enable", args: []string{"1"}},
		{name: "user unlock", args: []string{"1", server.Credentials.Username}},
		{name: "user reset-password", args: []string{"1", server.Credentials.Username}},
		{name: "signing-keys rotate"},
		{name: "backfill"},
		{name: "deadletter replay", args: []string{"--service", "scheduling"}, prepare: func(t *testing.T) { write(t, letter) }},
		{name: "propagation replay", args: []string{propagation}, prepare: func(t *testing.T) {
			write(t, `UPDATE propagation SET state = 'FAILED' WHERE tenant_id = 1 AND id = $1`, propagation)
		}},
		{name: "restore finish", args: []string{"--force"}},
	}
	rows := func(operation string) (outcomes []string) {
		var found struct{ Events []struct{ Outcome string } }
		_, err := api.Call(t.Context(), http.MethodPost, "/v1/platform/audit_events/multi_read", scenario.Object{"where": scenario.Object{"operation": operation}}, &found)
		require.NoError(t, err)
		for _, e := range found.Events {
			outcomes = append(outcomes, e.Outcome)
		}
		return outcomes
	}
	known := []string{}
	for _, c := range commands {
		known = append(known, c.name)
		if c.prepare != nil {
			c.prepare(t)
		}
		o.run(place(append(strings.Fields(c.name), c.args...)...)...)
	}
	server.Credentials.Password = func() string {
		var reset struct{ Password string }
		o.read(&reset, place("user", "reset-password", "1", server.Credentials.Username)...)
		return reset.Password
	}()
	launch.Await(t, quickly, "the administrator can log in", func() bool { return launch.TryLogin(t, server.Client, server.Ready) == nil })
	api = scenario.API{Target: server.Target(t)}
	for _, c := range commands {
		if c.elsewhere {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			operation := c.operation
			if operation == "" {
				operation = c.name
			}
			outcomes := rows(operation)
			require.NotEmpty(t, outcomes)
			for _, outcome := range outcomes {
				assert.Equal(t, "ok", outcome)
			}
		})
	}
	t.Run("all commands", func(t *testing.T) {
		for _, line := range regexp.MustCompile(`(?m)^  ([a-z][a-z -]*?)(?: [\[<-].*)?$`).FindAllStringSubmatch(o.run("--help"), -1) {
			_, reads := writesNothing[line[1]]
			assert.True(t, reads || slices.Contains(known, line[1]), "%q: does it write, and where is its row?", line[1])
		}
	})
}

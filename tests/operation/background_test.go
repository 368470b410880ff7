package operation

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// background is work that no request starts, with a way to see that a process does it.
type background struct {
	does string
	// program does the work, and service owns the database.
	program, service string
	// prepare inserts one row that needs the work, and todo counts the rows that still need it.
	prepare, todo string
	// needs is a condition that prepare relies on. A program makes it true soon after its start.
	needs string
	// after runs on another service's database before prepare.
	after map[string]string
}

// auditing is work that every service does on its audit log.
func auditing(service string) background {
	return background{
		does: "old events of " + service + "'s audit log are deleted", program: service, service: service,
		prepare: `INSERT INTO audit_event (tenant_id, occurred_at, user_name, person_id, client_id, service, operation, objects, request_id, outcome)
			VALUES (1, now() - interval '3 years', '', 0, '', '', 'old', '{}', '', 'ok')`,
		todo: `SELECT count(*) FROM audit_event WHERE operation = 'old'`,
	}
}

// relaying is work that every service with an outbox does.
func relaying(service string) []background {
	return []background{
		{
			does: "events that " + service + " has sent are deleted", program: service, service: service,
			prepare: `INSERT INTO outbox (tenant_id, stream, subject, event, payload, sent_at)
				VALUES (1, 'NONE', 'old', 'old', '', now() - interval '1 day')`,
			todo: `SELECT count(*) FROM outbox WHERE subject = 'old'`,
		},
		{
			does: "messages to " + service + " that were never settled are forgotten", program: service, service: service,
			prepare: `INSERT INTO delivery_attempt (tenant_id, consumer, event_id, updated_at) VALUES (1, 'old', 'old', now() - interval '31 days')`,
			todo:    `SELECT count(*) FROM delivery_attempt WHERE consumer = 'old'`,
		},
	}
}

var backgrounds = append([]background{
	{
		does: "expired token families end", program: "auth", service: "auth",
		prepare: `INSERT INTO token_family (tenant_id, sid, user_id, client_id, refresh_hash, created_at, expires_at, access_until)
			SELECT 1, 'old', id, 'tests', '\x00', now() - interval '9 days', now() - interval '1 hour', now() - interval '1 hour' FROM app_user WHERE username = 'admin'`,
		todo: `SELECT count(*) FROM token_family WHERE sid = 'old'`,
	},
	{
		does: "expired revocations end", program: "auth", service: "auth",
		prepare: `INSERT INTO revocation (tenant_id, key, created_at, expires_at) VALUES (1, 's.old', now() - interval '9 days', now() - interval '1 hour')`,
		todo:    `SELECT count(*) FROM revocation WHERE key = 's.old'`,
	},
	{
		does: "failed log-ins are forgotten", program: "auth", service: "auth",
		prepare: `INSERT INTO login_failure (tenant_id, key, failures, window_ends, streak, forget_at)
			VALUES (1, '\x00', 1, now() - interval '1 hour', 1, now() - interval '1 hour')`,
		todo: `SELECT count(*) FROM login_failure WHERE key = '\x00'`,
	},
	{
		does: "a lockout that falls due holds", program: "auth", service: "auth",
		after: map[string]string{"auth": `INSERT INTO app_user (tenant_id, person_id, username, username_key, password_hash, access_profile)
			VALUES (1, 990001, 'due', 'due', '', 'Employee')`},
		prepare: `INSERT INTO account_lockout (tenant_id, person_id, version, periods, next_at)
			VALUES (1, 990001, 1, tstzmultirange(tstzrange(now() - interval '1 hour', NULL)), now() - interval '1 hour')`,
		todo: `SELECT count(*) FROM app_user WHERE person_id = 990001 AND NOT locked_out`,
	},
	{
		does: "a signing key that retires is followed by another", program: "auth", service: "auth",
		prepare: `UPDATE signing_key SET retires = true WHERE id = (SELECT id FROM signing_key LIMIT 1)`,
		todo:    `SELECT count(*) FROM signing_key WHERE retires OR NOT EXISTS (SELECT FROM signing_key WHERE use_from > now())`,
	},
	{
		does: "accounts that a crash left without persons are removed", program: "commons", service: "commons",
		after: map[string]string{"auth": `INSERT INTO app_user (tenant_id, person_id, username, username_key, password_hash, access_profile)
			VALUES (1, 990002, 'left', 'left', '', 'Employee')`},
		prepare: `INSERT INTO account_intent (tenant_id, person_id, created_at) VALUES (1, 990002, now() - interval '1 day')`,
		todo:    `SELECT count(*) FROM account_intent WHERE person_id = 990002`,
	},
	{
		does: "expired idempotency keys end", program: "platform", service: "platform",
		prepare: `INSERT INTO idempotency_key (tenant_id, id, client_id, fingerprint, attempt, lease_until, expires_at)
			VALUES (1, '\x00', 'old', '\x00', 1, now() - interval '2 days', now() - interval '1 day')`,
		todo: `SELECT count(*) FROM idempotency_key WHERE client_id = 'old'`,
	},
	{
		does: "deliveries that were settled long ago are forgotten", program: "platform", service: "platform",
		prepare: `INSERT INTO notification_delivery (tenant_id, delivery_id, message_id, notification_id, notification_name, channel, state, person_id,
				person_number, webhook_id, address, content, fingerprint, next_attempt_at, give_up_at, created_at, settled_at)
			SELECT 1, gen_random_uuid(), gen_random_uuid(), 1, 'old', 'EMAIL', 'DELIVERED', 0, '', 0, '', '', '', at, at, at, at FROM (SELECT now() - interval '1 year' AS at) AS old`,
		todo: `SELECT count(*) FROM notification_delivery WHERE notification_name = 'old'`,
	},
	{
		does: "unused allowances are deleted", program: "platform", service: "platform",
		prepare: `INSERT INTO rate_bucket (tenant_id, caller, throttle, tokens, granted, updated_at) VALUES (1, 'old', 1, 1, 1, now() - interval '1 day')`,
		todo:    `SELECT count(*) FROM rate_bucket WHERE caller = 'old'`,
	},
	{
		does: "a dead letter is replayed on request", program: "timekeeping", service: "timekeeping",
		prepare: `INSERT INTO dead_letter (tenant_id, consumer, event_id, subject, event, payload, request_id, traceparent, delivery, published_at, reason, replay_at)
			VALUES (1, 'timekeeping-person-changed', 'old', 'rotaloom.commons.person.changed', 'rotaloom.commons.v1.PersonsChanged', '', '', '', 1, now(), 'old', now())`,
		todo: `SELECT count(*) FROM dead_letter WHERE event_id = 'old'`,
	},
	{
		does: "propagations of long ago are forgotten", program: "propagator", service: "scheduling",
		prepare: `INSERT INTO propagation (tenant_id, cause, state, finished_at) VALUES (1, 'OLD', 'FINISHED', now() - interval '9 years')`,
		todo:    `SELECT count(*) FROM propagation WHERE cause = 'OLD'`,
	},
	{
		does: "an accepted change is applied when nothing is published of it", program: "propagator", service: "scheduling",
		prepare: `INSERT INTO propagation (tenant_id, cause, employment_term_ids, moved_at)
			VALUES (1, 'PATTERN', '{990003}', now() - interval '1 day')`,
		todo: `SELECT count(*) FROM propagation WHERE employment_term_ids = '{990003}' AND state <> 'FINISHED'`,
	},
	{
		does: "versions of assignments of long ago are forgotten", program: "propagator", service: "scheduling",
		prepare: `WITH p AS (INSERT INTO schedule_pattern (tenant_id, digest, day_count, body) VALUES (1, 'old', 1, '') RETURNING id)
			INSERT INTO pattern_assignment (tenant_id, id, version, employment_term_id, from_date, to_date, pattern_id, day_count, anchor,
				start_date_offset, override, lane, seq, propagation_id, believed_from, believed_until)
			SELECT 1, 990004, version, 990004, '2000-01-01', '2001-01-01', p.id, 1, '2000-01-01', 0, false, 0, 1, 0, '2000-01-01', '2010-01-01'
			FROM p, generate_series(1, 2) AS version`,
		todo: `SELECT count(*) FROM pattern_assignment WHERE id = 990004 AND version = 1`,
	},
	{
		does: "there is room for the past of the next month", program: "propagator", service: "scheduling",
		needs:   "to_regclass('" + nextMonth() + "') IS NOT NULL",
		prepare: "DROP TABLE " + nextMonth(), todo: "SELECT count(*) WHERE to_regclass('" + nextMonth() + "') IS NULL",
	},
}, everywhere()...)

// nextMonth returns the name of the next month's partition. The test drops that partition, and the
// program creates it again, even if the test runs over the end of a month.
func nextMonth() string {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month()+1, 1, 0, 0, 0, 0, time.UTC).Format("span_past_block_200601")
}

func everywhere() (all []background) {
	for _, service := range []string{"auth", "commons", "timekeeping", "scheduling", "recruiting", "platform"} {
		all = append(all, auditing(service))
	}
	for _, service := range []string{"commons", "timekeeping", "scheduling"} {
		all = append(all, relaying(service)...)
	}
	return all
}

// Every process does the work that no request starts: it finds due work at its start, or soon
// after.
func TestBackgroundWorkIsDone(t *testing.T) {
	t.Parallel()
	d := launch.Deployed(t, "ROTALOOM_LOG_LEVEL=warn")
	databases := map[string]*pgx.Conn{}
	for _, service := range []string{"auth", "commons", "timekeeping", "scheduling", "recruiting", "platform"} {
		conn, err := pgx.Connect(t.Context(), d.Postgres.AdminURL(service))
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, conn.Close(context.Background())) })
		databases[service] = conn
	}
	programs := map[string]bool{}
	for _, b := range backgrounds {
		programs[b.program] = true
		launch.Await(t, time.Minute, b.does+" can be prepared", func() (holds bool) {
			require.NoError(t, databases[b.service].QueryRow(t.Context(), "SELECT "+cmp.Or(b.needs, "true")).Scan(&holds))
			return holds
		})
	}
	for name := range programs {
		d.Services[name].Stop(t)
	}
	todo := func(b background) (n int) {
		require.NoError(t, databases[b.service].QueryRow(t.Context(), b.todo).Scan(&n), b.does)
		return n
	}
	for _, b := range backgrounds {
		for service, sql := range b.after {
			_, err := databases[service].Exec(t.Context(), sql)
			require.NoError(t, err, b.does)
		}
		_, err := databases[b.service].Exec(t.Context(), b.prepare)
		require.NoError(t, err, b.does)
		require.Positive(t, todo(b), b.does)
	}
	for name := range programs {
		d.Start(name)
	}
	for _, b := range backgrounds {
		t.Run(b.does, func(t *testing.T) {
			launch.Await(t, 3*time.Minute, b.does, func() bool { return todo(b) == 0 })
		})
	}
	var left int
	require.NoError(t, databases["auth"].QueryRow(t.Context(), `SELECT count(*) FROM app_user WHERE person_id = 990002`).Scan(&left))
	assert.Zero(t, left, "auth has no accounts of persons who are not in commons")
}

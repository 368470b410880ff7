package historytest

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

// begin begins a transaction, which the database gives its now().
func begin(t *testing.T, env *schedtest.Env) pgx.Tx {
	t.Helper()
	tx, err := env.Pool.Begin(env.Ctx)
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(env.Ctx) }) // The transaction is committed, or no longer needed.
	_, err = tx.Exec(env.Ctx, "SELECT now()")
	require.NoError(t, err)
	return tx
}

// member puts employee 1 on a term, under the lock, instead of another term.
func member(t *testing.T, env *schedtest.Env, tx pgx.Tx, term int64) (at time.Time) {
	t.Helper()
	require.NoError(t, employeelock.Lock(env.Ctx, tx, []int64{1}))
	_, err := tx.Exec(env.Ctx, schedtest.InsertTerm+" ON CONFLICT DO NOTHING", term, fmt.Sprint("Term ", term), true)
	require.NoError(t, err)
	_, err = tx.Exec(env.Ctx, "DELETE FROM membership WHERE tenant_id = 1 AND employee_id = 1")
	require.NoError(t, err)
	require.NoError(t, tx.QueryRow(env.Ctx, `INSERT INTO membership (tenant_id, employee_id, employment_term_id, from_date, to_date)
		VALUES (1, 1, $1, '2026-01-01', '3000-01-01') RETURNING believed_from`, term).Scan(&at))
	return at
}

func awaitSettled(t *testing.T, env *schedtest.Env) (at time.Time) {
	t.Helper()
	require.NoError(t, env.Pool.QueryRow(env.Ctx, "SELECT settled_time()").Scan(&at))
	return at
}

// A transaction that began first but got the lock later made the later change.
func TestChangesHaveTheOrderOfTheirCommits(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	late := begin(t, env)
	early := begin(t, env)
	first := member(t, env, early, 5)
	require.NoError(t, early.Commit(env.Ctx))
	second := member(t, env, late, 6)
	require.NoError(t, late.Commit(env.Ctx))

	assert.True(t, second.After(first))
	var from, until time.Time
	require.NoError(t, env.Pool.QueryRow(env.Ctx, "SELECT believed_from, believed_until FROM membership_past").Scan(&from, &until))
	assert.True(t, from.Equal(first))
	assert.True(t, until.Equal(second), "one is believed until the other is")
}

func TestAChangeHasOneTime(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	tx := begin(t, env)
	first := member(t, env, tx, 5)
	assert.True(t, member(t, env, tx, 6).Equal(first))
	var revision int64
	require.NoError(t, tx.QueryRow(env.Ctx, "SELECT change_revision()").Scan(&revision))
	assert.Equal(t, first.UnixMicro(), revision, "it is the revision that events carry")
	require.NoError(t, tx.Commit(env.Ctx))
	assert.Zero(t, env.Rows(t, "membership_past")["membership_past"], "nobody ever saw term 5")

	// The next change over the same connection has another one.
	tx = begin(t, env)
	assert.True(t, member(t, env, tx, 7).After(first))
}

// An open transaction may commit with the time that it has drawn. Until then, only instants before
// that time are settled.
func TestThePastIsSettledUpToOpenChanges(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	open := begin(t, env)
	drawn := member(t, env, open, 5)
	assert.True(t, awaitSettled(t, env).Before(drawn))
	require.NoError(t, open.Commit(env.Ctx))
	assert.True(t, awaitSettled(t, env).After(drawn))

	undone := begin(t, env)
	drawn = member(t, env, undone, 6)
	require.NoError(t, undone.Rollback(env.Ctx))
	assert.True(t, awaitSettled(t, env).After(drawn))
}

// A clock that is set back does not put a change before others.
func TestTheOrderSurvivesTheClock(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	ahead := time.Now().Add(time.Hour).UnixMicro()
	env.Exec(t, "SELECT setval('schedule_revision', $1)", ahead)
	last := awaitSettled(t, env)
	assert.Greater(t, last.UnixMicro(), ahead)
	for term := range int64(3) {
		tx := begin(t, env)
		at := member(t, env, tx, term+1)
		require.NoError(t, tx.Commit(env.Ctx))
		assert.True(t, at.After(last))
		last = at
	}
}

// Propagations write the place of a hidden entry, without a lock of the employee who has the item
// now. This is not a change of the item.
func TestWhereAnEntryHidesIsNoChangeOfTheItem(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	for i, sql := range []string{
		`INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, body) VALUES (1, 7, 1, 'SHIFT', '2026-01-01', '2026-01-01', 'a')`,
		`UPDATE schedule_item SET hidden_lane = 1, hidden_ordinal = 2 WHERE tenant_id = 1 AND id = 7`,
		`UPDATE schedule_item SET hidden_lane = 3, withdrawn = false WHERE tenant_id = 1 AND id = 7`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			env.Exec(t, sql)
		})
	}
	assert.Zero(t, env.Rows(t, "schedule_item_past")["schedule_item_past"])
	env.Exec(t, `UPDATE schedule_item SET body = 'b' WHERE tenant_id = 1 AND id = 7`)
	var body string
	require.NoError(t, env.Pool.QueryRow(env.Ctx, "SELECT convert_from(body, 'UTF8') FROM schedule_item_past WHERE id = 7").Scan(&body))
	assert.Equal(t, "a", body)
}

// An item that is withdrawn was shown before.
func TestWithdrawingAnItemChangesIt(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	for i, sql := range []string{
		`INSERT INTO schedule_item (tenant_id, id, employee_id, kind, from_day, to_day, body) VALUES (1, 7, 1, 'SHIFT', '2026-01-01', '2026-01-01', 'a')`,
		`UPDATE schedule_item SET hidden_lane = NULL, withdrawn = true WHERE tenant_id = 1 AND id = 7`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			env.Exec(t, sql)
		})
	}
	var withdrawn bool
	require.NoError(t, env.Pool.QueryRow(env.Ctx, "SELECT withdrawn FROM schedule_item_past WHERE id = 7").Scan(&withdrawn))
	assert.False(t, withdrawn)
}

// A column that is missing in the past would be forgotten.
func TestThePastHasTheColumnsOfItsTable(t *testing.T) {
	t.Parallel()
	env := schedtest.New(t)
	const columns = `SELECT array_agg(attname::text || ' ' || format_type(atttypid, atttypmod) ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'believed_until'`
	for _, table := range historyTables {
		t.Run(table, func(t *testing.T) {
			var now, then []string
			require.NoError(t, env.Pool.QueryRow(env.Ctx, columns, table).Scan(&now))
			require.NoError(t, env.Pool.QueryRow(env.Ctx, columns, table+"_past").Scan(&then))
			assert.Equal(t, now, then, "a migration adds a column to both")
		})
	}
}

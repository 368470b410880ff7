package restore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
)

// A write that was let through before the database was exchanged behind the same URL does
// not reach the other one: it would be given an id that was given before.
func TestAnExchangedDatabaseIsComparedBeforeWrites(t *testing.T) {
	t.Parallel()
	f := newFixture(t, natstest.New(t), "one")
	f.start()
	f.awaitOpen()
	f.write(5)
	before := f.save()
	last, _ := f.write(100)
	f.exchange(before)
	ctx, refused := tenant.All(t.Context()), 0
	var id int64
	require.Eventually(t, func() bool {
		err := f.pool.QueryRow(ctx, `INSERT INTO thing (name) VALUES ('late') RETURNING id`).Scan(&id)
		if err == nil {
			return true
		}
		if fault.HasCode(err, fault.CodeUnavailable) { // Others lost their connection.
			refused++
		}
		return f.guard.Notice() != ""
	}, waitTimeout, time.Millisecond)
	assert.Positive(t, refused, "nobody wrote before the comparison")
	if f.guard.Notice() == "" { // The broker knew of no higher watermark yet: ids are left out.
		assert.Greater(t, id, last)
	}
}

// exchange puts another state of the database in the place of the one that is there, and
// ends all connections, as a promotion or a restore does.
func (f *fixture) exchange(s saved) {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), f.pool.Config().URL.Reveal())
	require.NoError(f.t, err)
	defer conn.Close(context.Background())
	_, err = conn.PgConn().Exec(f.t.Context(), fmt.Sprintf(`BEGIN;
SELECT set_config('rotaloom.tenant_id', 'all', true);
DELETE FROM thing WHERE id > %d;
CREATE TABLE restored (LIKE restore_state INCLUDING ALL);
INSERT INTO restored SELECT * FROM restore_state;
UPDATE restored SET progress = %d;
DROP TABLE restore_state;
ALTER TABLE restored RENAME TO restore_state;
SELECT setval('thing_id_seq', %d), setval('block', %d);
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
COMMIT`, s.things, s.progress, s.things, s.block)).ReadAll()
	require.NoError(f.t, err)
}

package pgerr_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestViolationsAreRecognisedByConstraint(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, notes())
	ctx := tenant.With(t.Context(), 1)
	_, err := pool.Exec(ctx, "INSERT INTO note VALUES (1, 1, 'x')")
	require.NoError(t, err)
	run := func(sql string) error {
		_, err := pool.Exec(ctx, sql)
		return fmt.Errorf("store: %w", err)
	}

	unique := run("INSERT INTO note VALUES (1, 1, 'again')")
	assert.True(t, pgerr.IsUnique(unique, "note_pk"))
	assert.True(t, pgerr.IsUnique(unique, ""))
	assert.False(t, pgerr.IsUnique(unique, "note_name_key"))
	assert.False(t, pgerr.IsForeignKey(unique, ""))

	assert.True(t, pgerr.IsForeignKey(run("INSERT INTO mark VALUES (1, 99, 1)"), "mark_note_fk"))
	assert.True(t, pgerr.IsCheck(run("INSERT INTO note VALUES (1, 2, '')"), "note_not_empty"))
	assert.False(t, pgerr.Unavailable(unique))
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	ctx := t.Context()

	// a port without a listener
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	_, err = pgx.Connect(ctx, "postgres://nobody@"+listener.Addr().String()+"/none?sslmode=disable")
	assert.True(t, pgerr.Unavailable(err), "there is no listener: %v", err)

	_, err = pool.Exec(ctx, "SELECT pg_terminate_backend(pg_backend_pid())")
	assert.True(t, pgerr.Unavailable(err), "the server ended the session: %v", err)

	canceled, cancel := context.WithCancel(ctx)
	cancel()
	_, err = pool.Exec(canceled, "SELECT 1")
	require.Error(t, err)
	assert.False(t, pgerr.Unavailable(err), "the caller went away: %v", err)

	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err = pool.Exec(short, "SELECT pg_sleep(10)")
	require.Error(t, err)
	assert.False(t, pgerr.Unavailable(err), "the caller's time was over: %v", err)

	assert.False(t, pgerr.Unavailable(nil))
	assert.False(t, pgerr.Unavailable(pgx.ErrNoRows))
}

func TestStatementsTimeOut(t *testing.T) {
	t.Parallel()
	cfg := pgtest.Config(t)
	cfg.StatementTimeout = 20 * time.Millisecond
	pool, err := pg.Open(t.Context(), cfg, pgtest.Log(t))
	require.NoError(t, err)
	defer pool.Close()

	_, err = pool.Exec(t.Context(), "SELECT pg_sleep(10)")
	assert.True(t, pgerr.TimedOut(err), "%v", err)
	assert.False(t, pgerr.Unavailable(err))
}

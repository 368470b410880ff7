package record_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
	"github.com/rotaloom/rotaloom/services/recruiting/migrations"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

type item = recruitingv1.ConfigurationItem

var notes = record.Table[*item]{Name: "note", What: "note", Unknown: "WRL-00404"}

const createNotes = `-- +goose Up
CREATE TABLE note (
    tenant_id  bigint      NOT NULL,
    id         uuid        NOT NULL,
    changed    bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted    boolean     NOT NULL DEFAULT false,
    body       bytea       NOT NULL,
    writer     bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX note_changed ON note (tenant_id, changed);
SELECT isolate_tenants('note');
`

func newPool(t *testing.T) (context.Context, *pg.Pool) {
	t.Helper()
	return tenant.With(t.Context(), 7), pgtest.New(t, pg.Migrations{Table: "recruiting_version", FS: migrations.FS},
		pg.Migrations{Table: "note_version", FS: fstest.MapFS{"0001_note.sql": {Data: []byte(createNotes)}}})
}

func insert(t *testing.T, ctx context.Context, pool *pg.Pool, name string, writer int64) *record.Record[*item] {
	t.Helper()
	var r *record.Record[*item]
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		r, err = notes.Insert(ctx, tx, &item{Name: name}, record.Columns{"writer": writer})
		return err
	}))
	return r
}

// request is a Query.
type request struct {
	updatedAfter, after, before string
	limit                       int32
}

func (r request) GetUpdatedAfter() string { return r.updatedAfter }
func (r request) GetAfter() string        { return r.after }
func (r request) GetBefore() string       { return r.before }
func (r request) GetLimit() int32         { return r.limit }

func names(t *testing.T, ctx context.Context, pool *pg.Pool, q request, filter record.Condition) []string {
	t.Helper()
	list, err := notes.List(ctx, pool, q, filter)
	require.NoError(t, err)
	out := []string{}
	for _, r := range list {
		shown := r.Show()
		if r.Deleted {
			assert.Empty(t, shown.GetName())
			assert.Empty(t, shown.GetCreatedAt())
			out = append(out, "deleted "+shown.GetId())
			continue
		}
		out = append(out, shown.GetName())
	}
	return out
}

func TestListsHavePages(t *testing.T) {
	t.Parallel()
	ctx, pool := newPool(t)
	a, b, c := insert(t, ctx, pool, "a", 1), insert(t, ctx, pool, "b", 2), insert(t, ctx, pool, "c", 1)
	insert(t, tenant.With(ctx, 8), pool, "of another tenant", 1)
	mine := record.Condition{SQL: "r.writer = @writer", Args: pgx.NamedArgs{"writer": 1}}
	for name, q := range map[string]struct {
		request
		filter record.Condition
		want   []string
	}{
		"all":                       {want: []string{"a", "b", "c"}},
		"first":                     {request: request{limit: 2}, want: []string{"a", "b"}},
		"after a cursor":            {request: request{after: record.Cursor(b.Changed)}, want: []string{"c"}},
		"after a record":            {request: request{after: a.ID, limit: 1}, want: []string{"b"}},
		"before a cursor":           {request: request{before: record.Cursor(c.Changed), limit: 1}, want: []string{"b"}},
		"before a record":           {request: request{before: c.ID}, want: []string{"a", "b"}},
		"later changes":             {request: request{updatedAfter: record.Moment(a.Changed)}, want: []string{"b", "c"}},
		"changes until a cursor":    {request: request{updatedAfter: record.Moment(a.Changed), before: c.ID}, want: []string{"b"}},
		"changes since a day":       {request: request{updatedAfter: "2020-01-01"}, want: []string{"a", "b", "c"}},
		"with a filter":             {filter: mine, want: []string{"a", "c"}},
		"with a filter after one":   {request: request{after: a.ID}, filter: mine, want: []string{"c"}},
		"with two filters":          {filter: mine.And(record.Condition{SQL: "r.id = @id", Args: pgx.NamedArgs{"id": c.ID}}), want: []string{"c"}},
		"with an empty filter more": {filter: record.Condition{}.And(mine).And(record.Condition{}), want: []string{"a", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, q.want, names(t, ctx, pool, q.request, q.filter))
		})
	}
	for name, q := range map[string]struct {
		request
		code   string
		member []string
	}{
		"another cursor":   {request{after: "7"}, record.CodeCursorUnknown, []string{"after"}},
		"an unknown id":    {request{before: uuid.NewString()}, record.CodeCursorUnknown, []string{"before"}},
		"an invisible id":  {request{before: b.ID}, record.CodeCursorUnknown, []string{"before"}},
		"two cursors":      {request{before: a.ID, after: a.ID}, record.CodeTwoCursors, []string{"before", "after"}},
		"a large page":     {request{limit: record.MaxPageSize + 1}, record.CodePageSize, []string{"limit"}},
		"a negative limit": {request{limit: -1}, record.CodePageSize, []string{"limit"}},
	} {
		t.Run("not with "+name, func(t *testing.T) {
			t.Parallel()
			_, err := notes.List(ctx, pool, q.request, mine)
			refused := fault.FromError(err)
			assert.Equal(t, q.code, refused.Code)
			assert.Equal(t, q.member, refused.Members)
		})
	}
}

func TestDeletionsAreVisible(t *testing.T) {
	t.Parallel()
	ctx, pool := newPool(t)
	a, b := insert(t, ctx, pool, "a", 1), insert(t, ctx, pool, "b", 1)
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := notes.Lock(ctx, tx, a.ID, record.Condition{}); err != nil {
			return err
		}
		return notes.Delete(ctx, tx, a.ID, record.Columns{"writer": 0})
	}))
	assert.Equal(t, []string{"b"}, names(t, ctx, pool, request{}, record.Condition{}))
	assert.Equal(t, []string{"deleted " + a.ID}, names(t, ctx, pool, request{updatedAfter: record.Moment(b.Changed)}, record.Condition{}))
	_, err := notes.Get(ctx, pool, a.ID, record.Condition{})
	assert.True(t, fault.HasStatus(err, 404), err)
	var body []byte
	var writer int64
	require.NoError(t, pool.QueryRow(ctx, `SELECT body, writer FROM note WHERE tenant_id = 7 AND id = $1`, a.ID).Scan(&body, &writer))
	assert.Empty(t, body)
	assert.Zero(t, writer)
}

func TestAllRecordsOfAFilter(t *testing.T) {
	t.Parallel()
	ctx, pool := newPool(t)
	insert(t, ctx, pool, "a", 1)
	insert(t, ctx, pool, "b", 2)
	c, gone := insert(t, ctx, pool, "c", 1), insert(t, ctx, pool, "d", 1)
	insert(t, tenant.With(ctx, 8), pool, "e", 1)
	require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := notes.Delete(ctx, tx, gone.ID, nil); err != nil {
			return err
		}
		list, err := notes.All(ctx, tx, record.Condition{SQL: "r.writer = @writer", Args: pgx.NamedArgs{"writer": 1}}, "ORDER BY r.changed DESC FOR NO KEY UPDATE OF r")
		require.NoError(t, err)
		require.Len(t, list, 2)
		assert.Equal(t, c.ID, list[0].ID)
		assert.Equal(t, "a", list[1].Body.GetName())
		return nil
	}))
}

func TestRecordsAreUnknownToOthers(t *testing.T) {
	t.Parallel()
	ctx, pool := newPool(t)
	a := insert(t, ctx, pool, "a", 1)
	for name, c := range map[string]struct {
		ctx     context.Context
		id      string
		visible record.Condition
	}{
		"no GUID":        {ctx, "7", record.Condition{}},
		"unknown":        {ctx, uuid.NewString(), record.Condition{}},
		"another tenant": {tenant.With(ctx, 8), a.ID, record.Condition{}},
		"not visible":    {ctx, a.ID, record.Condition{SQL: "r.writer = @writer", Args: pgx.NamedArgs{"writer": 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := notes.Get(c.ctx, pool, c.id, c.visible)
			assert.Equal(t, 404, fault.FromError(err).Status, err)
			err = pg.InTx(c.ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
				_, err := notes.Refer(ctx, tx, "note.id", c.id, c.visible)
				return err
			})
			refused := fault.FromError(err)
			assert.Equal(t, 400, refused.Status, err)
			assert.Equal(t, []string{"note.id"}, refused.Members)
		})
	}
}

func TestATransactionThatCommitsLateIsLater(t *testing.T) {
	t.Parallel()
	ctx, pool := newPool(t)
	early, err := pool.Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = early.Rollback(ctx) }()
	first, err := notes.Insert(ctx, early, &item{Name: "first"}, nil)
	require.NoError(t, err)

	written := make(chan *record.Record[*item], 1)
	go func() { written <- insert(t, ctx, pool, "second", 1) }()
	require.Eventually(t, func() bool {
		var waits bool
		err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waits)
		return err == nil && waits
	}, 20*time.Second, 10*time.Millisecond, "the second writer does not wait")
	assert.Empty(t, names(t, ctx, pool, request{}, record.Condition{}))
	require.NoError(t, early.Commit(ctx))
	second := <-written
	assert.Greater(t, second.Changed, first.Changed)
	assert.Equal(t, []string{"first", "second"}, names(t, ctx, pool, request{}, record.Condition{}))
}

// A reader that always continues after the last record it saw has the last state of each record.
func TestAReaderMissesNoChange(t *testing.T) {
	t.Parallel()
	ctx, pool := newPool(t)
	const writers, records, rounds = 4, 6, 8
	var writing errgroup.Group
	for w := range writers {
		writing.Go(func() error {
			var ids []string
			for round := range rounds {
				for n := range records {
					err := pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
						body := &item{Name: fmt.Sprint(w, n, round)}
						if round == 0 {
							r, err := notes.Insert(ctx, tx, body, record.Columns{"writer": w})
							if err == nil {
								ids = append(ids[:n], r.ID)
							}
							return err
						}
						if _, err := notes.Lock(ctx, tx, ids[n], record.Condition{}); err != nil {
							return err
						}
						_, err := notes.Update(ctx, tx, ids[n], body, nil)
						return err
					})
					if err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	done := make(chan error, 1)
	go func() { done <- writing.Wait() }()

	state, after := map[string]string{}, ""
	read := func() int {
		list, err := notes.List(ctx, pool, request{after: after, limit: 5}, record.Condition{})
		require.NoError(t, err)
		for _, r := range list {
			state[r.ID], after = r.Body.GetName(), record.Cursor(r.Changed)
		}
		return len(list)
	}
	for running := true; running; {
		select {
		case err := <-done:
			require.NoError(t, err)
			running = false
		default:
			read()
		}
	}
	for read() > 0 {
	}
	final := map[string]string{}
	list, err := notes.List(ctx, pool, request{limit: 500}, record.Condition{})
	require.NoError(t, err)
	for _, r := range list {
		final[r.ID] = r.Body.GetName()
	}
	assert.Len(t, final, writers*records)
	assert.Equal(t, final, state)
}

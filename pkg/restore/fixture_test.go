package restore_test

import (
	"context"
	"fmt"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const waitTimeout = 20 * time.Second

// things is the schema of a service: ids one by one, and numbers in blocks.
var things = pg.Migrations{Table: "things_version", FS: fstest.MapFS{"0001_things.sql": {Data: []byte(`-- +goose Up
CREATE TABLE thing (id bigint GENERATED ALWAYS AS IDENTITY, name text);
CREATE SEQUENCE block MINVALUE 1024 START 1024 INCREMENT 1024 MAXVALUE 8589934591;`)}}}

// fixture is the database of one service of an installation.
type fixture struct {
	t       *testing.T
	service string
	nats    *natstest.Server
	pool    *pg.Pool
	stop    func()
	guard   *restore.Guard
}

func newFixture(t *testing.T, nats *natstest.Server, service string) *fixture {
	t.Helper()
	return &fixture{t: t, service: service, nats: nats, pool: pgtest.New(t, restore.Migrations(), things)}
}

// start starts a guard, as a program does.
func (f *fixture) start() {
	f.t.Helper()
	f.startOn(f.nats.Conn())
}

func (f *fixture) startOn(conn *nats.Conn) {
	f.t.Helper()
	var err error
	f.guard, err = restore.New(restore.Options{
		Service: f.service, Pool: f.pool, NATS: conn, Log: pgtest.Log(f.t), Registry: prometheus.NewRegistry(),
	})
	require.NoError(f.t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(f.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- f.guard.Run(ctx) }()
	stopped := false
	f.stop = func() {
		if !stopped {
			stopped = true
			cancel()
			assert.NoError(f.t, <-ended)
		}
	}
	f.t.Cleanup(f.stop)
}

// awaitOpen waits until writes are accepted, and awaitRestored until they are refused.
func (f *fixture) awaitOpen() {
	f.t.Helper()
	require.Eventually(f.t, func() bool { return f.guard.CheckWrite(f.t.Context()) == nil }, waitTimeout, 5*time.Millisecond)
}

func (f *fixture) awaitRestored() {
	f.t.Helper()
	require.Eventually(f.t, func() bool { return fault.HasCode(f.guard.CheckWrite(f.t.Context()), restore.CodeRestored) }, waitTimeout, 5*time.Millisecond)
	assert.Contains(f.t, f.guard.Notice(), "rotaloom restore finish")
}

// write makes some things, and returns the last id and the last block.
func (f *fixture) write(n int) (id, block int64) {
	f.t.Helper()
	require.NoError(f.t, pg.InTx(tenant.All(f.t.Context()), f.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `WITH made AS (INSERT INTO thing (name) SELECT 'x' FROM generate_series(1, $1) RETURNING id) SELECT max(id) FROM made`, n).Scan(&id); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT nextval('block')`).Scan(&block)
	}))
	return id, block
}

// saved is a state of the database that a test goes back to.
type saved struct {
	progress int64
	things   int64
	block    int64
}

func (f *fixture) save() (s saved) {
	f.t.Helper()
	require.NoError(f.t, f.pool.QueryRow(f.t.Context(), `SELECT progress, coalesce(pg_sequence_last_value('thing_id_seq'), 0), coalesce(pg_sequence_last_value('block'), 0)
		FROM restore_state`).Scan(&s.progress, &s.things, &s.block))
	return s
}

// rewind brings the database back to a state, as a copy of its files does.
func (f *fixture) rewind(s saved) {
	f.t.Helper()
	f.exec(fmt.Sprintf(`DELETE FROM thing WHERE id > %d; UPDATE restore_state SET progress = %d; SELECT setval('thing_id_seq', %d), setval('block', %d)`,
		s.things, s.progress, s.things, s.block))
}

func (f *fixture) exec(sql string) {
	f.t.Helper()
	require.NoError(f.t, pg.InTx(tenant.All(f.t.Context()), f.pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Conn().PgConn().Exec(ctx, sql).ReadAll()
		return err
	}))
}

// awaitWitness waits until the database has stored that another one has come to a thing.
func (f *fixture) awaitWitness(service string, id int64) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		known, err := restore.ReadWitnesses(f.t.Context(), f.pool)
		return err == nil && known[service].Sequences["thing_id_seq"] >= id
	}, waitTimeout, 10*time.Millisecond)
}

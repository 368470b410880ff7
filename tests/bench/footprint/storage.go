package footprint

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const storage = "storage"

// storedPersons are as many that what a database takes at the beginning does not count.
const storedPersons = 5_000

// storageFigure measures how much larger the databases become with each employee: a
// person on a term whose rotation has no end, as the API stores them, with
// every index.
func storageFigure(h *harness.Host, _ harness.Options) ([]harness.Figure, error) {
	server := launch.Standalone(h, "--log-level", "warn")
	api := scenario.API{Target: server.Target(h)}
	conn, err := pgx.Connect(h.Context(), launch.PrivatePostgres(server.StateDir)("postgres"))
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(h.Context()))
	before, err := stored(h.Context(), conn)
	if err != nil {
		return nil, err
	}
	if _, err := fixture.Hire(h.Context(), api, storedPersons, ""); err != nil {
		return nil, err
	}
	after, err := stored(h.Context(), conn)
	return []harness.Figure{{
		Name: storage, Unit: "kB", Measured: harness.Sample{float64(after-before) / storedPersons / 1000}, AtMost: 20,
		Note: fmt.Sprintf("of all databases per employee with a rotation without end, %d employees", storedPersons),
	}}, err
}

// stored is the size of the databases of all services, in bytes.
func stored(ctx context.Context, conn *pgx.Conn) (size int64, err error) {
	err = conn.QueryRow(ctx, `SELECT sum(pg_database_size(oid))::bigint FROM pg_database WHERE datname LIKE 'rotaloom\_%'`).Scan(&size)
	return size, err
}

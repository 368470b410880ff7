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

// storedPersons is large enough to make the initial size of the databases irrelevant.
const storedPersons = 5_000

// storageFigure measures how much the databases grow with each employee: a person on a term with a
// rotation without end, stored by the API, with every index.
func storageFigure(h *harness.Host, _ harness.Options) ([]harness.Figure, error) {
	server := launch.Standalone(h, "--log-level", "warn")
	api := scenario.API{Target: server.Target(h)}
	conn, err := pgx.Connect(h.Context(), launch.PrivatePostgres(server.StateDir)("postgres"))
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(h.Context()))
	before, err := databaseSize(h.Context(), conn)
	if err != nil {
		return nil, err
	}
	if _, err := fixture.Hire(h.Context(), api, storedPersons, ""); err != nil {
		return nil, err
	}
	after, err := databaseSize(h.Context(), conn)
	return []harness.Figure{{
		Name: storage, Unit: "kB", Measured: harness.Sample{float64(after-before) / storedPersons / 1000}, AtMost: 20,
		Note: fmt.Sprintf("of all databases per employee with a rotation without end, %d employees", storedPersons),
	}}, err
}

// databaseSize returns the size of the databases of all services, in bytes.
func databaseSize(ctx context.Context, conn *pgx.Conn) (size int64, err error) {
	err = conn.QueryRow(ctx, `SELECT sum(pg_database_size(oid))::bigint FROM pg_database WHERE datname LIKE 'rotaloom\_%'`).Scan(&size)
	return size, err
}

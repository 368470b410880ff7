package timeoffedit

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

const (
	readRow = `SELECT employee_id, version, item_ids, digest FROM time_off_edit WHERE tenant_id = $1 AND request_id = $2`

	writeRow = `
INSERT INTO time_off_edit (tenant_id, request_id, employee_id, version, item_ids, digest) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, request_id) DO UPDATE SET version = excluded.version, item_ids = excluded.item_ids, digest = excluded.digest`

	readRequests = `
SELECT request_id, employee_id FROM time_off_edit WHERE tenant_id = $1 AND cardinality(item_ids) > 0`
)

// row is a row of time_off_edit. The zero row belongs to a request that was never on a schedule.
type row struct {
	employeeID, version int64
	items               []int64
	digest              []byte
}

// read reads the row of a request. The transaction has locked the schedule.
func read(ctx context.Context, tx pgx.Tx, requestID int64) (row, error) {
	var r row
	err := tx.QueryRow(ctx, readRow, tenant.Of(ctx), requestID).Scan(&r.employeeID, &r.version, &r.items, &r.digest)
	if errors.Is(err, pgx.ErrNoRows) {
		sum, err := digest(nil)
		return row{digest: sum}, err
	}
	if err != nil {
		return r, fmt.Errorf("timeoffedit: read: %w", err)
	}
	return r, nil
}

func write(ctx context.Context, tx pgx.Tx, requestID int64, r row) error {
	_, err := tx.Exec(ctx, writeRow, tenant.Of(ctx), requestID, r.employeeID, r.version, append([]int64{}, r.items...), r.digest)
	if err != nil {
		return fmt.Errorf("timeoffedit: write: %w", err)
	}
	return nil
}

// Requests returns the tenant's requests with time off on schedules, with their employees.
func Requests(ctx context.Context, db pg.Querier) (map[int64]int64, error) {
	out := map[int64]int64{}
	var request, employee int64
	err := pg.ForEach(ctx, db, []any{&request, &employee}, func() error {
		out[request] = employee
		return nil
	}, readRequests, tenant.Of(ctx))
	if err != nil {
		return nil, fmt.Errorf("timeoffedit: read requests: %w", err)
	}
	return out, nil
}

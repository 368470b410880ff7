package timeoff

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// row is a row of time_off_request.
type row struct {
	id, employeeID int64
	version        int64
	status         status
	first, last    civil.Date
	subtypeID      int64
	request        *timekeepingv1.TimeOffRequest
}

// maxRead is the maximum number of requests in one response.
const maxRead = 10_000

const (
	columns = `
SELECT id, version, employee_id, status, from_day, to_day, subtype_id, body FROM time_off_request
WHERE tenant_id = $1 AND `

	readByID = columns + `id = ANY($2) ORDER BY id`

	lockByID = columns + `id = $2 FOR UPDATE`

	readByEmployee = columns + `employee_id = ANY($2) AND status = ANY($3) AND from_day <= $5 AND to_day >= $4 ORDER BY from_day, id LIMIT $6`

	selectCovering = `SELECT id, employee_id FROM time_off_request WHERE tenant_id = $1 AND status = ANY($2)`

	insertRow = `
INSERT INTO time_off_request (tenant_id, id, employee_id, status, from_day, to_day, subtype_id, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING version`

	updateRow = `
UPDATE time_off_request SET status = $3, body = $4, version = version + 1, updated_at = now()
WHERE tenant_id = $1 AND id = $2`

	replaceRow = `
UPDATE time_off_request SET from_day = $3, to_day = $4, subtype_id = $5, body = $6, version = version + 1, updated_at = now()
WHERE tenant_id = $1 AND id = $2`
)

// newID returns the id of a new request.
func newID(ctx context.Context, db pg.Querier) (int64, error) {
	var id int64
	if err := db.QueryRow(ctx, `SELECT nextval('time_off_request_id')`).Scan(&id); err != nil {
		return 0, fmt.Errorf("timeoff: number a request: %w", err)
	}
	return id, nil
}

// byID returns the requests with the ids, by id.
func byID(ctx context.Context, db pg.Querier, ids []int64) (map[int64]*row, error) {
	found, err := db.Query(ctx, readByID, tenant.Of(ctx), ids)
	list, err := collect(found, err)
	out := make(map[int64]*row, len(list))
	for _, r := range list {
		out[r.id] = r
	}
	return out, err
}

// readCovering returns the requests that are on schedules, with their employees.
func readCovering(ctx context.Context, tx pgx.Tx) (map[int64]int64, error) {
	rows, err := tx.Query(ctx, selectCovering, tenant.Of(ctx), []status{approved, cancelSubmitted})
	if err != nil {
		return nil, fmt.Errorf("timeoff: read approved requests: %w", err)
	}
	out := map[int64]int64{}
	var id, employeeID int64
	_, err = pgx.ForEachRow(rows, []any{&id, &employeeID}, func() error {
		out[id] = employeeID
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("timeoff: read approved requests: %w", err)
	}
	return out, nil
}

// forUpdate returns a request or nil. It prevents other transactions from changing the request
// until the transaction ends.
func forUpdate(ctx context.Context, tx pgx.Tx, id int64) (*row, error) {
	found, err := tx.Query(ctx, lockByID, tenant.Of(ctx), id)
	list, err := collect(found, err)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0], nil
}

// byEmployee returns the requests of employees that have one of the statuses and overlap a range of
// days with their span from first to last day. It returns at most maxRead+1 requests.
func byEmployee(ctx context.Context, db pg.Querier, employees []int64, statuses []status, days civil.Range) ([]*row, error) {
	found, err := db.Query(ctx, readByEmployee, tenant.Of(ctx), employees, statuses, days.From, days.To-1, maxRead+1)
	list, err := collect(found, err)
	if err != nil {
		return nil, err
	}
	kept := list[:0]
	for _, r := range list {
		touches, err := r.overlaps(days)
		if err != nil {
			return nil, err
		}
		if touches {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// overlaps reports whether a period has one of the days.
func (r *row) overlaps(days civil.Range) (bool, error) {
	for _, p := range r.request.GetPeriods() {
		of, err := parseDays("periods", p.GetStartDate(), p.GetEndDate())
		if err != nil {
			return false, fmt.Errorf("timeoff: request %d: %w", r.id, err)
		}
		if of.Overlaps(days) {
			return true, nil
		}
	}
	return false, nil
}

func collect(rows pgx.Rows, err error) ([]*row, error) {
	if err != nil {
		return nil, fmt.Errorf("timeoff: read: %w", err)
	}
	var out []*row
	var r row
	var body []byte
	_, err = pgx.ForEachRow(rows, []any{&r.id, &r.version, &r.employeeID, &r.status, &r.first, &r.last, &r.subtypeID, &body}, func() error {
		kept := r
		kept.request = &timekeepingv1.TimeOffRequest{}
		out = append(out, &kept)
		return proto.Unmarshal(body, kept.request)
	})
	if err != nil {
		return nil, fmt.Errorf("timeoff: read: %w", err)
	}
	return out, nil
}

// insert stores a new request, whose id is already set.
func insert(ctx context.Context, tx pgx.Tx, r *row) error {
	body, err := proto.Marshal(r.request)
	if err != nil {
		return fmt.Errorf("timeoff: encode: %w", err)
	}
	err = tx.QueryRow(ctx, insertRow, tenant.Of(ctx), r.id, r.employeeID, r.status, r.first, r.last, r.subtypeID, body).Scan(&r.version)
	if err != nil {
		return fmt.Errorf("timeoff: insert: %w", err)
	}
	return nil
}

var errGone = errors.New("timeoff: the request is gone")

// update stores a changed status of a request.
func update(ctx context.Context, tx pgx.Tx, r *row) error {
	body, err := proto.Marshal(r.request)
	if err != nil {
		return fmt.Errorf("timeoff: encode: %w", err)
	}
	tag, err := tx.Exec(ctx, updateRow, tenant.Of(ctx), r.id, r.status, body)
	if err == nil && tag.RowsAffected() != 1 {
		err = errGone
	}
	if err != nil {
		return fmt.Errorf("timeoff: update: %w", err)
	}
	return nil
}

// replace stores new contents of a request.
func replace(ctx context.Context, tx pgx.Tx, r *row) error {
	body, err := proto.Marshal(r.request)
	if err != nil {
		return fmt.Errorf("timeoff: encode: %w", err)
	}
	tag, err := tx.Exec(ctx, replaceRow, tenant.Of(ctx), r.id, r.first, r.last, r.subtypeID, body)
	if err == nil && tag.RowsAffected() != 1 {
		err = errGone
	}
	if err != nil {
		return fmt.Errorf("timeoff: replace: %w", err)
	}
	r.version++
	return nil
}

package projection

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	deleteLeave = `DELETE FROM leave_interval WHERE tenant_id = $1 AND person_id = ANY($2)`

	insertLeave = `
INSERT INTO leave_interval (tenant_id, person_id, from_day, to_day, start_second, end_second, shifts_from, shifts_to)
SELECT $1, unnest($2::bigint[]), unnest($3::date[]), unnest($4::date[]),
    unnest($5::int[]), unnest($6::int[]), unnest($7::date[]), unnest($8::date[])`
)

// applyLeave replaces the leave of persons.
func applyLeave(ctx context.Context, tx pgx.Tx, changes []replica.Change[*schedulingv1.EmployeeLeave]) error {
	tenantID := tenant.Of(ctx)
	type row struct {
		Person               int64
		From, To             civil.Date
		Start, End           int32
		ShiftsFrom, ShiftsTo *civil.Date
	}
	var ids []int64
	var rows []row
	for _, c := range changes {
		ids = append(ids, c.Key)
		for _, s := range c.State.GetIntervals() {
			rows = append(rows, row{
				Person: c.Key,
				From:   civil.Date(s.GetDay()), To: civil.Date(s.GetDay() + max(0, s.GetEndSecond()-1)/civil.SecondsPerDay),
				Start: s.GetStartSecond(), End: s.GetEndSecond(),
				ShiftsFrom: (*civil.Date)(s.ShiftsFrom), ShiftsTo: (*civil.Date)(s.ShiftsTo),
			})
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteLeave, tenantID, ids)
	batch.Queue(insertLeave, pg.Columns(rows, tenantID)...)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store leave: %w", err)
	}
	return nil
}

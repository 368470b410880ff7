package calculation

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

const (
	readSignedBodies = `
SELECT day, body FROM signed_day WHERE tenant_id = $1 AND employee_id = $2 AND day = ANY($3)`

	readCorrectionsOfDays = `
SELECT historical_date, pay_code_id, pay_code, job, sum(seconds)::bigint, sum(days)::bigint, sum(money)::bigint
FROM historical_correction WHERE tenant_id = $1 AND employee_id = $2 AND historical_date = ANY($3) GROUP BY 1, 2, 3, 4`
)

// ReadPaid returns what the sign-off and later corrections have recorded for signed-off days of an
// employee, by day, pay code and job. Pay codes have their present names.
func ReadPaid(ctx context.Context, tx pgx.Tx, employeeID int64, days []civil.Date) (map[worktime.Key]amount.Quantity, error) {
	tenantID := tenant.Of(ctx)
	setup, err := paysetup.Load(ctx, tx)
	if err != nil {
		return nil, err
	}
	out := map[worktime.Key]amount.Quantity{}
	var day civil.Date
	var body []byte
	err = pg.ForEach(ctx, tx, []any{&day, &body}, func() error {
		signed := &timekeepingv1.TimecardDay{}
		if err := proto.Unmarshal(body, signed); err != nil {
			return err
		}
		for _, t := range signed.GetTotals() {
			if t.GetKind() == timekeepingv1.TotalKind_TOTAL_KIND_HISTORICAL_CORRECTION {
				continue // It belongs to the day that it corrects.
			}
			key := worktime.Key{Day: day, PayCode: setup.PayCode(t.GetPayCode()), Job: orgjob.Text(t.GetOrgJob())}
			out[key] = out[key].Add(amount.Quantity{Seconds: t.GetSeconds(), Days: amount.Read(t.GetDays()), Money: amount.Read(t.GetMoney())})
		}
		return nil
	}, readSignedBodies, tenantID, employeeID, days)
	if err != nil {
		return nil, fmt.Errorf("read signed days: %w", err)
	}
	var code worktime.PayCode
	var job string
	var q amount.Quantity
	err = pg.ForEach(ctx, tx, []any{&day, &code.ID, &code.Name, &job, &q.Seconds, (*int64)(&q.Days), (*int64)(&q.Money)}, func() error {
		key := worktime.Key{Day: day, PayCode: setup.PayCode(paysetup.Ref(code)), Job: job}
		out[key] = out[key].Add(q)
		return nil
	}, readCorrectionsOfDays, tenantID, employeeID, days)
	if err != nil {
		return nil, fmt.Errorf("read corrections: %w", err)
	}
	return out, nil
}

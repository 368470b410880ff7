package calculation

import (
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/dayschedule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// correction is the effect of a change of a signed-off day on a later day.
type correction struct {
	id         int64
	historical civil.Date
	apply      civil.Date
	payCode    worktime.PayCode
	job        string
	amount.Quantity
}

const (
	// Days before the requested days count towards the week.
	readSigned = `
SELECT s.employee_id, s.day, s.worked, s.week, CASE WHEN s.day >= $5 THEN s.body END, CASE WHEN s.day >= $5 AND s.schedule_changed THEN s.schedule END
FROM unnest($2::bigint[]) AS e (id) CROSS JOIN LATERAL (
    SELECT * FROM signed_day WHERE tenant_id = $1 AND employee_id = e.id AND day >= $3 AND day < $4 OFFSET 0
) AS s`

	readCorrections = `
SELECT c.employee_id, c.id, c.historical_date, c.apply_date, c.pay_code_id, c.pay_code, c.job, c.seconds, c.days, c.money
FROM unnest($2::bigint[]) AS e (id) CROSS JOIN LATERAL (
    SELECT * FROM historical_correction WHERE tenant_id = $1 AND employee_id = e.id AND apply_date >= $3 AND apply_date < $4 OFFSET 0
) AS c ORDER BY c.employee_id, c.id`
)

func scanSigned(rows pgx.Rows, found map[int64]*employee) error {
	for rows.Next() {
		var id int64
		var day civil.Date
		var worked worktime.Worked
		var body, schedule []byte
		if err := rows.Scan(&id, &day, &worked.All, &worked.Week, &body, &schedule); err != nil {
			return err
		}
		e := found[id]
		if e.before == nil {
			e.before, e.signed = map[civil.Date]worktime.Worked{}, map[civil.Date]*timekeepingv1.TimecardDay{}
		}
		e.before[day] = worked
		if schedule != nil {
			if e.rescheduled == nil {
				e.rescheduled = dayschedule.Days{}
			}
			e.rescheduled[day] = &schedulingv1.EmployeeDays{}
			if err := proto.Unmarshal(schedule, e.rescheduled[day]); err != nil {
				return err
			}
		}
		if len(body) == 0 {
			continue
		}
		e.signed[day] = &timekeepingv1.TimecardDay{}
		if err := proto.Unmarshal(body, e.signed[day]); err != nil {
			return err
		}
	}
	return rows.Err()
}

func scanCorrections(rows pgx.Rows, found map[int64]*employee) error {
	for rows.Next() {
		var id int64
		c := &correction{}
		err := rows.Scan(&id, &c.id, &c.historical, &c.apply, &c.payCode.ID, &c.payCode.Name, &c.job, &c.Seconds, (*int64)(&c.Days), (*int64)(&c.Money))
		if err != nil {
			return err
		}
		found[id].corrections = append(found[id].corrections, c)
	}
	return rows.Err()
}

// Corrections returns the corrections that later changes of signed-off days booked on the days of a
// timecard.
func (c *Timecard) Corrections() []*timekeepingv1.HistoricalCorrection {
	var out []*timekeepingv1.HistoricalCorrection
	for _, k := range c.corrections {
		if c.Days.Contains(k.apply) {
			out = append(out, k.toProto(c))
		}
	}
	return out
}

// toProto returns a correction in the form of responses.
func (k *correction) toProto(c *Timecard) *timekeepingv1.HistoricalCorrection {
	out := &timekeepingv1.HistoricalCorrection{
		Id: &k.id, Employee: c.Employee(), Paycode: paysetup.Ref(k.payCode), OrgJob: orgjob.Ref(k.job), HistoricalDate: k.historical.String(), ApplyDate: k.apply.String(),
	}
	out.AmountType, out.DurationInHours, out.DurationInDays, out.MoneyAmount = k.Shown()
	return out
}

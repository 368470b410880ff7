package calculation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// randomSchedule has shifts by day and by night, pay code edits of all kinds, also on days
// without a shift, and holidays.
func randomSchedule(random *rand.Rand, days civil.Range) employeeday.Days {
	of := &schedulingv1.EmployeeDays{EmployeeId: 7}
	var holidays []civil.Date
	for day := days.From; day < days.To; day++ {
		for range random.IntN(3) {
			start, taken := int32(random.IntN(24))*3600, random.IntN(3) == 0
			of.Shifts = append(of.Shifts, &schedulingv1.EmployeeShift{Day: int32(day), Segments: []*schedulingv1.EmployeeShiftSegment{
				{StartSecond: start, EndSecond: start + 4*3600, Taken: taken}, {StartSecond: start + 5*3600, EndSecond: start + 8*3600},
			}})
		}
		if random.IntN(40) == 0 {
			holidays = append(holidays, day)
		}
		for range max(0, random.IntN(10)-7) {
			a := &schedulingv1.PayCodeAmount{PayCode: []string{"vacation", "Day", "Other", "Holiday"}[random.IntN(4)]}
			switch random.IntN(4) {
			case 0:
				a.Seconds = int64(random.IntN(9)) * 1800
			case 1:
				a.StartSecond, a.EndSecond = 20*3600, 30*3600 // Some of the nights have another length.
			case 2:
				a.Days = int64(random.IntN(3)) * 5000
			default:
				a.Halves = int32(1 + random.IntN(2))
			}
			of.PayCodeEdits = append(of.PayCodeEdits, &schedulingv1.EmployeePayCodeEdit{Day: int32(day), TimeOff: random.IntN(2) == 0, Amount: a})
		}
	}
	rule := &commonsv1.PersonDayText{From: int32(days.From), To: int32(days.To), Text: "Ruled"}
	return employeeday.Days{Schedule: of, Holidays: holidays, Pay: &commonsv1.PersonPay{PayRules: []*commonsv1.PersonDayText{rule}}}
}

// The totals under pay codes equal the totals of the timecards on each day of several years, from
// any source of time, and also when days are signed off and changed afterwards.
func TestTotalsUnderPayCodesAreThoseOfTimecards(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			ctx, pool, random := tenant.With(t.Context(), 1), pooltest.New(t), rand.New(rand.NewPCG(41, seed))
			days := civil.Range{From: civil.Of(2023, 1, 1), To: civil.Of(2026, 1, 1)}
			known := timecardtest.Known{7: randomSchedule(random, days)}
			timecards := timecardtest.New(pool, known, timecardtest.Noon(t, "2026-02-01"))
			codes := map[string]*commonv1.Ref{}
			for _, code := range []*timekeepingv1.PayCode{{Name: "Vacation", ExcusedAbsence: proto.Bool(true)}, {Name: "Day", Unit: "DAY"}, {Name: "Other"}, {Name: "Holiday"}, {Name: "Overtime"}} {
				made, err := paycode.New(pool, paycodetest.Terms{}).CreatePayCode(ctx, code)
				require.NoError(t, err)
				codes[code.GetName()] = &commonv1.Ref{Id: made.Id, Qualifier: proto.String(made.GetName())}
			}
			_, err := payrule.New(paycodetest.Names(pool)).CreatePayRule(ctx, &timekeepingv1.PayRule{Name: "Ruled", EffectiveVersions: []*timekeepingv1.PayRuleVersion{{
				EffectiveDate: "1900-01-01", DailyOvertime: []*timekeepingv1.PayRuleTier{{After: proto.Int32(480), PayCode: codes["Overtime"]}},
				HolidayCredit: &timekeepingv1.PayRuleHolidayCredit{PayCode: codes["Holiday"], Length: proto.Int32(480)},
			}}})
			require.NoError(t, err)
			exec := func(sql string, args ...any) {
				t.Helper()
				_, err := pool.Exec(ctx, sql, args...)
				require.NoError(t, err)
			}
			marshal := func(m proto.Message) []byte {
				body, err := proto.Marshal(m)
				require.NoError(t, err)
				return body
			}
			exec(`INSERT INTO person (tenant_id, id, person_number, version, time_zone, hire_date) VALUES (1, 7, '7', 1, 'Europe/Berlin', '2023-03-01')`)
			exec(`INSERT INTO leave_case (tenant_id, id, employee_id, case_code, status_id, from_date, to_date, body) VALUES (1, 1, 7, 'L', 1, $1, $2, '')`, days.From, days.To)
			addEdit := func(ctx context.Context, tx pgx.Tx, day civil.Date) error {
				code := codes[[]string{"Vacation", "Other", "Overtime"}[random.IntN(3)]]
				_, err := tx.Exec(ctx, `INSERT INTO timecard_edit (tenant_id, employee_id, apply_date, seconds, days, money, body) VALUES (1, 7, $1, $2, 0, 0, $3)`,
					day, random.IntN(8)*1800, marshal(&timekeepingv1.TimecardPayCodeEdit{Paycode: code}))
				return err
			}
			id, local := int64(0), []string{}
			for day := days.From; day < days.To; day++ {
				if random.IntN(2) == 0 {
					local = append(local, fmt.Sprintf("%sT%02d:00", day, 5+random.IntN(5)), fmt.Sprintf("%sT%02d:30", day, 14+random.IntN(6)))
				}
				if random.IntN(25) == 0 {
					require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error { return addEdit(ctx, tx, day) }))
				}
				if random.IntN(25) == 0 {
					id++
					exec(`INSERT INTO leave_edit (tenant_id, id, leave_case_id, employee_id, from_day, to_day, version, body) VALUES (1, $1, 1, 7, $2, $2, 1, $3)`, id, day,
						marshal(&timekeepingv1.LeaveEdit{OverrideSegments: []*timekeepingv1.LeaveOverrideSegment{{PayCode: codes["Vacation"], AmountInSeconds: proto.Int64(3600)}}}))
				}
			}
			timecards.Punch(ctx, t, 7, local...)
			check := func(when string) {
				t.Helper()
				for _, names := range [][]string{{"Vacation", "Day"}, {"Day"}, {"Vacation", "Overtime"}, {"Holiday"}} {
					var refs []*commonv1.Ref
					for _, name := range names {
						refs = append(refs, codes[name])
					}
					var want []*timekeepingv1.WorkedTimeTotal
					for year := 2023; year <= 2025; year++ {
						for _, total := range timecards.Worked(ctx, t, fmt.Sprintf("%d-01-01", year), fmt.Sprintf("%d-12-31", year), 7)[0].GetTotals() {
							if paysetup.Contains(refs, total.GetPayCode()) {
								want = append(want, total)
							}
						}
					}
					got, err := timecards.Reader.TotalsUnder(ctx, 7, days, refs)
					require.NoError(t, err)
					assert.NotEmpty(t, want)
					assert.Equal(t, slices.Sorted(slices.Values(timecardtest.Describe(want))), slices.Sorted(slices.Values(timecardtest.Describe(got))), "%s, %v", when, names)
				}
			}
			check("open")
			signed := civil.Range{From: days.From, To: days.From + 200}
			timecards.SignOff(ctx, t, 7, signed)
			check("signed off")
			known[7] = randomSchedule(random, days)
			check("the schedule was changed after the sign-off")
			late := signed.From + civil.Date(random.IntN(200))
			require.NoError(t, timecards.Signoffs.Change(ctx, signoff.ChangedDays{7: {late: true}}, func(ctx context.Context, tx pgx.Tx) error {
				return addEdit(ctx, tx, late)
			}))
			check("a signed-off day was corrected")
		})
	}
}

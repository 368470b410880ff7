package payrollstaging

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/employeeday"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payrule"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paycodeedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/punch"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// someRequests are the requests of random runs: all time, only signed-off time, without
// corrections, only corrections, with an unused pay code, and with or without a used one.
var someRequests = []*timekeepingv1.PayrollStagingRequest{
	{},
	{IgnoreSignOff: new(false)},
	{HistoricalCorrections: "Excluded in totals"},
	{HistoricalCorrections: "Correction only"},
	{IncludePayCodes: []*commonv1.Ref{{Qualifier: new("Other")}}},
	{IncludePayCodes: []*commonv1.Ref{{Qualifier: new("Overtime")}}},
	{ExcludePayCodes: []*commonv1.Ref{{Qualifier: new("Overtime")}, {Qualifier: new("Bonus")}}},
}

// histories is how many random histories the test has.
const histories = 10

// payRules are the pay rules of random histories. "" stands for employees without one.
var payRules = []string{"", "Weekly", "Boundary", "Divided", "Evening", "Seventh"}

// createPaySetup stores the pay codes and pay rules of random histories, and returns the pay codes.
func createPaySetup(t *testing.T, ctx context.Context, f *ledgerFixture) map[string]*commonv1.Ref {
	t.Helper()
	codes := map[string]*commonv1.Ref{}
	for name, unit := range map[string]string{"Overtime": amount.UnitHour, "Training": amount.UnitHour, "Away": amount.UnitDay, "Bonus": amount.UnitMoney} {
		code, err := paycode.New(f.pool, paycodetest.Terms{}).CreatePayCode(ctx, &timekeepingv1.PayCode{Name: name, Unit: unit})
		require.NoError(t, err)
		codes[name] = &commonv1.Ref{Id: code.Id, Qualifier: &name}
	}
	after := func(minutes int32) []*timekeepingv1.PayRuleTier {
		return []*timekeepingv1.PayRuleTier{{After: &minutes, PayCode: &commonv1.Ref{Id: codes["Overtime"].Id}}}
	}
	for name, version := range map[string]*timekeepingv1.PayRuleVersion{
		"Weekly":   {WeeklyOvertime: after(20 * 60)},
		"Boundary": {WeeklyOvertime: after(15 * 60), WeekSplit: "BOUNDARY", WeekStart: "SUNDAY"},
		"Divided":  {WeeklyOvertime: after(15 * 60), DayDivide: &timekeepingv1.PayRuleDayDivide{Time: "05:00", Split: new(true)}},
		"Evening":  {WeeklyOvertime: after(15 * 60), DailyOvertime: after(6 * 60), DayDivide: &timekeepingv1.PayRuleDayDivide{Time: "22:00"}},
		"Seventh":  {SeventhDayOvertime: after(0), DayDivide: &timekeepingv1.PayRuleDayDivide{Time: "22:00", Split: new(true)}},
	} {
		version.EffectiveDate = "1900-01-01"
		_, err := payrule.New(paycodetest.Names(f.pool)).CreatePayRule(ctx, &timekeepingv1.PayRule{Name: name, EffectiveVersions: []*timekeepingv1.PayRuleVersion{version}})
		require.NoError(t, err)
	}
	return codes
}

// history is what happens to the time of some employees, and the runs that stage it.
type history struct {
	*ledgerFixture
	random    *rand.Rand
	codes     map[string]*commonv1.Ref
	employees []int64
	// days are the working days of the employees.
	days civil.Range
	runs []uuid.UUID
	log  []string
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *history) employee() int64 { return h.employees[h.random.IntN(len(h.employees))] }

func (h *history) day() civil.Date { return h.days.From + civil.Date(h.random.IntN(h.days.Days())) }

// entry returns a punch at a random minute. Some punches begin another job.
func (h *history) entry(t *testing.T, employee int64) *punch.Entry {
	t.Helper()
	e := timecardtest.Entries(t, employee, fmt.Sprintf("%sT%02d:%02d", h.day(), h.random.IntN(24), h.random.IntN(60)))[0]
	switch h.random.IntN(8) {
	case 0:
		e.Job = "Shop/Till"
	case 1:
		e.Job = orgjob.Text(&commonv1.Ref{Id: new(int64(5))})
	}
	return e
}

// change is something that happens to the time of employees.
type change func(context.Context) error

// changePunches adds, moves or removes a punch.
func (h *history) changePunches(t *testing.T, ctx context.Context) change {
	t.Helper()
	employee := h.employee()
	e := h.entry(t, employee)
	added := e.Local(e.At).Date
	var id int64
	var at time.Time
	switch err := h.pool.QueryRow(ctx, `SELECT id, at FROM punch WHERE tenant_id = 1 AND employee_id = $1 ORDER BY hashint8(id + $2) LIMIT 1`,
		employee, h.random.IntN(1000)).Scan(&id, &at); {
	case !errors.Is(err, pgx.ErrNoRows) && h.random.IntN(3) == 0:
		require.NoError(t, err)
		old := e.Local(at.Unix()).Date
		days := signoff.ChangedDays{}
		days.Add(employee, old)
		if h.random.IntN(2) == 0 {
			h.note("remove the punch of %d at %s", employee, e.Local(at.Unix()))
			return func(ctx context.Context) error {
				return h.Signoffs.Change(ctx, days, func(ctx context.Context, tx pgx.Tx) error { return punch.Delete(ctx, tx, employee, id) })
			}
		}
		days.Add(employee, added)
		e.ID = id
		h.note("move the punch of %d from %s to %s", employee, e.Local(at.Unix()), e.Local(e.At))
		return func(ctx context.Context) error {
			return h.Signoffs.Change(ctx, days, func(ctx context.Context, tx pgx.Tx) error { return punch.Update(ctx, tx, e) })
		}
	}
	list := []*punch.Entry{e}
	if h.random.IntN(3) > 0 {
		until := *e
		until.At += int64(3600*(1+h.random.IntN(10)) + 60*h.random.IntN(60))
		until.Job = ""
		list = append(list, &until)
	}
	h.note("punch of %d at %s, %d s of %q", employee, e.Local(e.At), list[len(list)-1].At-e.At, e.Job)
	return func(ctx context.Context) error { return h.Signoffs.AddPunches(ctx, list) }
}

// edit returns a pay code edit of a random worth.
func (h *history) edit() *paycodeedit.Edit {
	e := &paycodeedit.Edit{Day: h.day(), Body: &timekeepingv1.TimecardPayCodeEdit{}}
	name := "Training"
	switch n := int64(h.random.IntN(50_000) - 10_000); h.random.IntN(3) {
	case 0:
		e.Seconds, e.Body.AmountType = n, amount.UnitHour
	case 1:
		name, e.Days, e.Body.AmountType = "Away", amount.Amount(n), amount.UnitDay
	default:
		name, e.Money, e.Body.AmountType = "Bonus", amount.Amount(n), amount.UnitMoney
	}
	e.Body.Paycode = h.codes[name]
	e.Body.OrgJob = []*commonv1.Ref{nil, {Id: new(int64(5))}, {Qualifier: new("Shop/Till")}}[h.random.IntN(3)]
	return e
}

// changeEdits adds, changes or removes a pay code edit.
func (h *history) changeEdits(t *testing.T, ctx context.Context) change {
	t.Helper()
	employee, e, days := h.employee(), h.edit(), signoff.ChangedDays{}
	var old civil.Date
	err := h.pool.QueryRow(ctx, `SELECT id, apply_date FROM timecard_edit WHERE tenant_id = 1 AND employee_id = $1 ORDER BY hashint8(id + $2) LIMIT 1`,
		employee, h.random.IntN(1000)).Scan(&e.ID, &old)
	if errors.Is(err, pgx.ErrNoRows) || h.random.IntN(2) == 0 {
		e.ID = 0
	} else {
		require.NoError(t, err)
		days.Add(employee, old)
	}
	store := func(ctx context.Context, tx pgx.Tx) error { return paycodeedit.Store(ctx, tx, employee, e) }
	if e.ID != 0 && h.random.IntN(2) == 0 {
		h.note("remove the edit %d of %d on %s", e.ID, employee, old)
		store = func(ctx context.Context, tx pgx.Tx) error { return paycodeedit.Delete(ctx, tx, employee, e.ID) }
	} else {
		h.note("edit %d of %d on %s: %v %v", e.ID, employee, e.Day, e.Quantity, e.Body)
		days.Add(employee, e.Day)
	}
	return func(ctx context.Context) error { return h.Signoffs.Change(ctx, days, store) }
}

// changeSignoff signs an employee off, or removes a sign-off. Either may be refused.
func (h *history) changeSignoff() change {
	employee, day := h.employee(), h.day()
	if h.random.IntN(2) == 0 {
		return func(ctx context.Context) error {
			err := h.Signoffs.SignOff(ctx, person.Person{ID: employee, TimeZone: "Europe/Berlin"}, civil.Through(max(h.days.From, day-6), day))
			h.note("sign %d off through %s: %v", employee, day, err)
			return unlessRefused(err)
		}
	}
	return func(ctx context.Context) error {
		err := h.Signoffs.Reopen(ctx, employee, day)
		h.note("open %d from %s: %v", employee, day, err)
		return unlessRefused(err)
	}
}

// unlessRefused returns an error that says that something has to be tried again.
func unlessRefused(err error) error {
	if err != nil && fault.FromError(err).Status == 400 {
		return nil
	}
	return err
}

// stageSome begins a run over some days and employees.
func (h *history) stageSome(t *testing.T, ctx context.Context) change {
	t.Helper()
	from := h.day()
	days := civil.Range{From: from, To: min(from+civil.Date(1+h.random.IntN(10)), h.days.To)}
	kind := h.random.IntN(len(someRequests))
	some := slices.Clone(h.employees[h.random.IntN(len(h.employees)):])
	h.note("stage %s of %v by request %d", days, some, kind)
	batches := h.begin(t, ctx, days, proto.CloneOf(someRequests[kind]), some)
	return func(ctx context.Context) error {
		for _, b := range batches {
			if err := h.worker.handle(ctx, b.id, b.batch); err != nil {
				return err
			}
		}
		return nil
	}
}

// begin stores a run that stages employees in one batch, or each in one of their own.
func (h *history) begin(t *testing.T, ctx context.Context, days civil.Range, req *timekeepingv1.PayrollStagingRequest, employees []int64) []*stagedBatch {
	t.Helper()
	last := civil.Range{From: days.From, To: days.To - 1}
	if h.random.IntN(2) == 0 {
		batches := begunOn(t, ctx, h.pool, last, req, employees...)
		h.runs = append(h.runs, batches[0].id)
		return batches
	}
	batches := begunOn(t, ctx, h.pool, last, req, employees[0])
	h.runs = append(h.runs, batches[0].id)
	_, err := work.Exec(ctx, h.pool, `UPDATE payroll_staging_batch SET employee_ids = $2 WHERE tenant_id = 1 AND staging_id = $1`, batches[0].id, employees)
	require.NoError(t, err)
	return batches
}

// cancelOne cancels a run.
func (h *history) cancelOne() change {
	if len(h.runs) == 0 {
		return func(context.Context) error { return nil }
	}
	n := h.random.IntN(len(h.runs))
	h.note("cancel the run %d", n)
	return func(ctx context.Context) error { return h.cancel(ctx, h.runs[n]) }
}

// next returns what happens next to the days that are not signed off by it.
func (h *history) next(t *testing.T, ctx context.Context) change {
	t.Helper()
	switch n := h.random.IntN(20); {
	case n < 8:
		return h.changePunches(t, ctx)
	case n < 11:
		return h.changeEdits(t, ctx)
	case n < 16:
		return h.stageSome(t, ctx)
	}
	return h.cancelOne()
}

// step has one thing happen, or two at the same time.
func (h *history) step(t *testing.T, ctx context.Context, known map[int64]employeeday.Days) {
	t.Helper()
	switch h.random.IntN(12) {
	case 10:
		h.replan(t, ctx, known)
	case 11:
		h.takeLeave(t, ctx)
	case 0:
		employee, name := h.employee(), payRules[h.random.IntN(len(payRules))]
		of := paidBy(employee, name)
		of.Schedule = known[employee].Schedule
		known[employee] = of
		h.note("%d has the pay rule %q", employee, name)
	case 1, 2:
		require.NoError(t, untilDone(ctx, h.changeSignoff()))
	case 3, 4:
		h.note("at the same time:")
		var group errgroup.Group
		for _, one := range []change{h.next(t, ctx), h.next(t, ctx)} {
			group.Go(func() error { return untilDone(ctx, one) })
		}
		require.NoError(t, group.Wait(), "%v", h.log)
	default:
		require.NoError(t, untilDone(ctx, h.next(t, ctx)), "%v", h.log)
	}
}

// untilDone repeats a change that conflicted with another one. A change of something that another
// one removed in the meantime is refused.
func untilDone(ctx context.Context, one change) error {
	err := one(ctx)
	for range 20 {
		if !fault.HasCode(err, fault.CodeStale) && !errors.Is(err, payledger.ErrMoved) {
			break
		}
		err = one(ctx)
	}
	return unlessRefused(err)
}

// paidBy returns the data of commons about an employee with a pay rule.
func paidBy(employee int64, name string) employeeday.Days {
	if name == "" {
		return employeeday.Days{}
	}
	return employeeday.Days{Pay: &commonsv1.PersonPay{PersonId: employee, PayRules: []*commonsv1.PersonDayText{
		{From: int32(civil.Beginning), To: int32(civil.Forever), Text: name},
	}}}
}

// The sum of all staged runs equals the timecard, after any order of punches, edits, leave, changes of
// schedules and pay rules, sign-offs, removals, runs and cancellations.
func TestTheLedgerIsTheTruth(t *testing.T) {
	t.Parallel()
	ctx, f := newLedger(t)
	codes := createPaySetup(t, ctx, f)
	first := civil.Of(2026, time.March, 2)
	whole := civil.Range{From: first - 3, To: first + 28}
	for seed := range uint64(histories) {
		h := &history{ledgerFixture: f, random: rand.New(rand.NewPCG(11, seed)), codes: codes, days: civil.Range{From: first, To: first + 25}}
		for n := range int64(3) {
			h.employees = append(h.employees, int64(seed)*3+n+1)
			f.known[h.employees[n]] = paidBy(h.employees[n], payRules[h.random.IntN(len(payRules))])
		}
		for step := range 60 {
			h.step(t, ctx, f.known)
			if step%20 != 19 {
				continue
			}
			// Once all days are staged, a run over later days finds what changed of them.
			days := whole
			if step > 20 && h.random.IntN(2) == 0 {
				days = civil.Range{From: whole.To, To: whole.To + 7}
			}
			h.note("stage %s", days)
			f.stage(t, ctx, days, &timekeepingv1.PayrollStagingRequest{}, h.employees...)
			for _, employee := range h.employees {
				require.Equal(t, f.due(t, ctx, whole, employee), f.paid(t, ctx, employee), "seed %d, employee %d: %s", seed, employee, strings.Join(h.log, "\n"))
			}
		}
	}
}

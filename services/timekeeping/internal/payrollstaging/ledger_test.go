package payrollstaging

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/paycode/paycodetest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paycodeedit"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// timecardTotals reads the totals of timecards as the service does.
type timecardTotals struct{ *timecardtest.Timecards }

func (w timecardTotals) ReadWorkedTime(ctx context.Context, req *timekeepingv1.ReadWorkedTimeRequest) (*timekeepingv1.ReadWorkedTimeResponse, error) {
	from, err := civil.ParseDate(req.GetStartDate())
	if err != nil {
		return nil, err
	}
	last, err := civil.ParseDate(req.GetEndDate())
	if err != nil {
		return nil, err
	}
	list, err := w.Reader.WorkedTime(ctx, req.GetEmployeeIds(), civil.Through(from, last))
	return &timekeepingv1.ReadWorkedTimeResponse{Employees: list}, err
}

// ledgerFixture stages the payroll of employees 1 to 9999 from their real timecards.
type ledgerFixture struct {
	*timecardtest.Timecards
	pool   *pg.Pool
	worker *Worker
	// known is the data of commons about employees.
	known timecardtest.Known
}

func newLedger(t *testing.T) (context.Context, *ledgerFixture) {
	t.Helper()
	pool, ctx := pooltest.New(t), tenant.With(t.Context(), 1)
	_, err := work.Exec(ctx, pool, `INSERT INTO person (tenant_id, id, version, person_number, full_name, time_zone, hire_date)
		SELECT 1, n, 1, 'P' || n, 'Person ' || n, 'Europe/Berlin', date '2020-01-01' FROM generate_series(1, 9999) AS n`)
	require.NoError(t, err)
	known := timecardtest.Known{}
	timecards := timecardtest.New(pool, known, timecardtest.Noon(t, "2026-06-01"))
	persons := person.NewDirectory(pool, nil, rowvisibility.New(clock.System{}))
	deps := Deps{Pool: pool, Persons: persons, Source: FromTimecards(timecardTotals{timecards})}
	return ctx, &ledgerFixture{Timecards: timecards, pool: pool, worker: newWorker(t, deps), known: known}
}

// stage stages the days of employees in a run of their own, and returns its id.
func (f *ledgerFixture) stage(t *testing.T, ctx context.Context, days civil.Range, req *timekeepingv1.PayrollStagingRequest, employees ...int64) uuid.UUID {
	t.Helper()
	batches := begunOn(t, ctx, f.pool, civil.Range{From: days.From, To: days.To - 1}, req, employees...)
	for _, b := range batches {
		require.NoError(t, f.worker.handle(ctx, b.id, b.batch))
	}
	return batches[0].id
}

func (f *ledgerFixture) cancel(ctx context.Context, id uuid.UUID) error {
	return work.InTx(ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error { return cancel(ctx, tx, id, rowvisibility.AllPersons()) })
}

// paid returns what all runs paid an employee: a line for each day, pay code and job.
func (f *ledgerFixture) paid(t *testing.T, ctx context.Context, employee int64) []string {
	t.Helper()
	rows, err := f.pool.Query(ctx, `SELECT paid_day || ' ' || pay_code || ' ' || job || ' ' || sum(seconds)
			|| coalesce(' days ' || trim_scale(nullif(sum(days), 0)), '') || coalesce(' money ' || trim_scale(nullif(sum(money), 0)), '')
		FROM payroll_staged_row WHERE tenant_id = 1 AND employee_id = $1 GROUP BY paid_day, pay_code, job
		HAVING sum(seconds) <> 0 OR sum(days) <> 0 OR sum(money) <> 0`, employee)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	slices.Sort(out)
	return out
}

// due returns the pay that an employee must get for some days, in the form of paid: the totals of
// the timecard, and its corrections of these days.
func (f *ledgerFixture) due(t *testing.T, ctx context.Context, days civil.Range, employee int64) []string {
	t.Helper()
	type key struct{ day, code, job string }
	sums := map[key]amount.Quantity{}
	// Corrections of the last days apply on the day after them.
	for _, w := range f.Worked(ctx, t, days.From.String(), days.To.String(), employee)[0].GetTotals() {
		if day := cmp.Or(w.GetHistoricalDate(), w.GetDate()); day < days.To.String() {
			k := key{day, w.GetPayCode().GetQualifier(), jobName(w.GetOrgJob())}
			sums[k] = sums[k].Add(amount.Quantity{Seconds: w.GetSeconds(), Days: amount.Read(w.GetDays()), Money: amount.Read(w.GetMoney())})
		}
	}
	out := []string{}
	for k, q := range sums {
		if q == (amount.Quantity{}) {
			continue
		}
		line := fmt.Sprintf("%s %s %s %d", k.day, k.code, k.job, q.Seconds)
		if q.Days != 0 {
			line += " days " + q.Days.String()
		}
		if q.Money != 0 {
			line += " money " + q.Money.String()
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return out
}

// Two runs of one employee at the same time do not pay twice.
func TestRunsAtTheSameTime(t *testing.T) {
	t.Parallel()
	ctx, f := newLedger(t)
	days := civil.Range{From: civil.Of(2026, 3, 2), To: civil.Of(2026, 3, 9)}
	f.Punch(ctx, t, 1, "2026-03-02T08:00", "2026-03-02T16:00")
	last := civil.Range{From: days.From, To: days.To - 1}
	a := begunOn(t, ctx, f.pool, last, &timekeepingv1.PayrollStagingRequest{}, 1)[0]
	b := begunOn(t, ctx, f.pool, last, &timekeepingv1.PayrollStagingRequest{}, 1)[0]
	books, err := f.worker.readBooks(ctx, a)
	require.NoError(t, err)
	require.NoError(t, f.worker.handle(ctx, b.id, 0), "the other run ends meanwhile")
	err = f.worker.finish(ctx, a, func(ctx context.Context, tx pgx.Tx) error {
		return insertStaged(ctx, tx, a, []stagingEmployee{{Person: person.Person{ID: 1}, head: books[1].Head, fields: []string{}}})
	})
	require.Equal(t, "WFP-90004", fault.FromError(err).Code, "%v", err)
	require.NoError(t, f.worker.handle(ctx, a.id, 0), "the batch is read again")
	assert.Equal(t, f.due(t, ctx, days, 1), f.paid(t, ctx, 1))
}

// The next run pays the changes that an import makes while a run reads.
func TestChangesDuringARun(t *testing.T) {
	t.Parallel()
	ctx, f := newLedger(t)
	days := civil.Range{From: civil.Of(2026, 3, 2), To: civil.Of(2026, 3, 9)}
	next := civil.Range{From: days.To, To: days.To + 7}
	f.Punch(ctx, t, 1, "2026-03-02T08:00", "2026-03-02T16:00")
	f.SignOff(ctx, t, 1, days)
	b := begunOn(t, ctx, f.pool, civil.Range{From: days.From, To: days.To - 1}, &timekeepingv1.PayrollStagingRequest{}, 1)[0]
	books, err := f.worker.readBooks(ctx, b)
	require.NoError(t, err)
	known, err := f.worker.totals(ctx, b, books)
	require.NoError(t, err)
	f.Punch(ctx, t, 1, "2026-03-03T08:00", "2026-03-03T16:00")
	require.NoError(t, f.worker.finish(ctx, b, func(ctx context.Context, tx pgx.Tx) error {
		return insertStaged(ctx, tx, b, []stagingEmployee{{
			Person: person.Person{ID: 1}, head: books[1].Head, fields: []string{}, totals: b.rules.difference(books[1], known[0].Totals), coveredThrough: &b.rules.days.To, settled: days.To,
		}})
	}))
	f.stage(t, ctx, next, &timekeepingv1.PayrollStagingRequest{}, 1)
	assert.Equal(t, []string{"2026-03-02 Regular  28800", "2026-03-03 Regular  28800"}, f.paid(t, ctx, 1))
}

// A run of signed-off time keeps corrections that an earlier run paid, though they apply to an open
// day.
func TestSignedOffRunsKeepPaidCorrections(t *testing.T) {
	t.Parallel()
	ctx, f := newLedger(t)
	days := civil.Range{From: civil.Of(2026, 3, 2), To: civil.Of(2026, 3, 9)}
	f.Punch(ctx, t, 1, "2026-03-02T08:00", "2026-03-02T16:00")
	f.SignOff(ctx, t, 1, days)
	f.Punch(ctx, t, 1, "2026-03-03T08:00", "2026-03-03T16:00")
	both := civil.Range{From: days.From, To: days.To + 7}
	f.stage(t, ctx, both, &timekeepingv1.PayrollStagingRequest{}, 1)
	want := []string{"2026-03-02 Regular  28800", "2026-03-03 Regular  28800"}
	require.Equal(t, want, f.paid(t, ctx, 1))
	for _, days := range []civil.Range{days, both} {
		f.stage(t, ctx, days, &timekeepingv1.PayrollStagingRequest{IgnoreSignOff: new(false)}, 1)
		assert.Equal(t, want, f.paid(t, ctx, 1))
	}
}

// The job of a correction is named like the job of the day, also if only its id is known.
func TestCorrectionsOfAJobByID(t *testing.T) {
	t.Parallel()
	ctx, f := newLedger(t)
	days := civil.Range{From: civil.Of(2026, 3, 2), To: civil.Of(2026, 3, 9)}
	for _, n := range []string{"2", "3"} {
		list := timecardtest.Entries(t, 1, "2026-03-0"+n+"T08:00", "2026-03-0"+n+"T16:00")
		list[0].Job = orgjob.Text(&commonv1.Ref{Id: new(int64(5))})
		require.NoError(t, f.Signoffs.AddPunches(ctx, list))
		if n == "2" {
			f.SignOff(ctx, t, 1, days)
		}
	}
	f.stage(t, ctx, civil.Range{From: days.From, To: days.To + 1}, &timekeepingv1.PayrollStagingRequest{}, 1)
	assert.Equal(t, []string{"2026-03-02 Regular 5 28800", "2026-03-03 Regular 5 28800"}, f.paid(t, ctx, 1))
}

// The first sign-off of an employee freezes days before all punches that are left, too: a run may
// have staged one of them, which lost its punches while it was open.
func TestAFirstSignOffAfterPunchesWent(t *testing.T) {
	t.Parallel()
	ctx, f := newLedger(t)
	first := civil.Of(2026, 3, 2)
	f.Punch(ctx, t, 1, "2026-03-02T08:00", "2026-03-02T16:00", "2026-03-17T08:00", "2026-03-17T16:00")
	f.stage(t, ctx, civil.Range{From: first, To: first + 7}, &timekeepingv1.PayrollStagingRequest{}, 1)
	gone := signoff.ChangedDays{}
	gone.Add(1, first)
	require.NoError(t, f.Signoffs.Change(ctx, gone, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM punch WHERE tenant_id = 1 AND employee_id = 1 AND at < '2026-03-03'`)
		return err
	}))
	f.SignOff(ctx, t, 1, civil.Range{From: first + 14, To: first + 21})
	f.stage(t, ctx, civil.Range{From: first + 14, To: first + 21}, &timekeepingv1.PayrollStagingRequest{}, 1)
	assert.Equal(t, []string{"2026-03-17 Regular  28800"}, f.paid(t, ctx, 1))
}

// A pay code keeps its ledger when it gets another name, also in runs that choose it by its name.
func TestAPayCodeIsRenamed(t *testing.T) {
	t.Parallel()
	ctx, f := newLedger(t)
	codes := createPaySetup(t, ctx, f)
	days := civil.Range{From: civil.Of(2026, 3, 2), To: civil.Of(2026, 3, 9)}
	edit := &paycodeedit.Edit{Day: days.From, Body: &timekeepingv1.TimecardPayCodeEdit{Paycode: codes["Training"], AmountType: amount.UnitHour}, Quantity: amount.Quantity{Seconds: 3600}}
	changed := signoff.ChangedDays{}
	changed.Add(1, days.From)
	require.NoError(t, f.Signoffs.Change(ctx, changed, func(ctx context.Context, tx pgx.Tx) error { return paycodeedit.Store(ctx, tx, 1, edit) }))
	named := func(name string) *timekeepingv1.PayrollStagingRequest {
		return &timekeepingv1.PayrollStagingRequest{IncludePayCodes: []*commonv1.Ref{{Qualifier: &name}}}
	}
	f.stage(t, ctx, days, named("Training"), 1)
	_, err := paycode.New(f.pool, paycodetest.Terms{}).UpdatePayCode(ctx, &timekeepingv1.UpdatePayCodeRequest{
		Id: codes["Training"].GetId(), Body: &timekeepingv1.PayCode{Name: "Course", Unit: amount.UnitHour},
	})
	require.NoError(t, err)
	for _, req := range []*timekeepingv1.PayrollStagingRequest{named("Course"), {}, named("Training"), {HistoricalCorrections: "Excluded in totals"}} {
		f.stage(t, ctx, days, req, 1)
		assert.Equal(t, []string{"2026-03-02 Training  3600"}, f.paid(t, ctx, 1), "%v", req)
	}
}

// Runs of signed-off time settle the days that they compared, unless they left corrections out: a
// later run does not compare them again.
func TestSignedOffRunsSettle(t *testing.T) {
	t.Parallel()
	ctx, f := newLedger(t)
	week := civil.Range{From: civil.Of(2026, 3, 2), To: civil.Of(2026, 3, 9)}
	next := civil.Range{From: week.To, To: week.To + 7}
	changed := func() civil.Range {
		heads, err := payledger.Read(ctx, f.pool, []int64{1})
		require.NoError(t, err)
		return heads[0].Changed
	}
	signedOff := &timekeepingv1.PayrollStagingRequest{IgnoreSignOff: new(false)}
	f.Punch(ctx, t, 1, "2026-03-02T08:00", "2026-03-02T16:00")
	f.SignOff(ctx, t, 1, week)
	f.stage(t, ctx, week, signedOff, 1)
	assert.True(t, changed().Empty(), "%s", changed())

	f.Punch(ctx, t, 1, "2026-03-03T08:00", "2026-03-03T16:00")
	f.stage(t, ctx, next, signedOff, 1)
	assert.False(t, changed().Empty(), "the correction applies on an open day")
	f.SignOff(ctx, t, 1, next)
	f.stage(t, ctx, next, signedOff, 1)
	assert.True(t, changed().Empty(), "%s", changed())
	assert.Equal(t, []string{"2026-03-02 Regular  28800", "2026-03-03 Regular  28800"}, f.paid(t, ctx, 1))
}

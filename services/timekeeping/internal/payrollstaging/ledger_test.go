package payrollstaging

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
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
	list, err := w.Cards.WorkedTime(ctx, tenant.Of(ctx), req.GetEmployeeIds(), civil.Through(from, last))
	return &timekeepingv1.ReadWorkedTimeResponse{Employees: list}, err
}

// ledgerFixture stages the payroll of employees 1 to 99 from their real timecards.
type ledgerFixture struct {
	*timecardtest.Timecards
	pool   *pg.Pool
	worker *Worker
}

func newLedger(t *testing.T) (context.Context, *ledgerFixture) {
	t.Helper()
	pool, ctx := pooltest.New(t), tenant.With(t.Context(), 1)
	_, err := work.Exec(ctx, pool, `INSERT INTO person (tenant_id, id, version, person_number, full_name, time_zone, hire_date)
		SELECT 1, n, 1, 'P' || n, 'Person ' || n, 'Europe/Berlin', date '2020-01-01' FROM generate_series(1, 99) AS n`)
	require.NoError(t, err)
	cards := timecardtest.New(pool, timecardtest.Known{}, timecardtest.Noon(t, "2026-06-01"))
	persons := person.NewDirectory(pool, nil, rowvisibility.New(clock.System{}))
	deps := Deps{Pool: pool, Persons: persons, Source: FromTimecards(timecardTotals{cards})}
	return ctx, &ledgerFixture{Timecards: cards, pool: pool, worker: newWorker(t, deps)}
}

// stage stages the days of employees in a run of their own, and returns its id.
func (f *ledgerFixture) stage(t *testing.T, ctx context.Context, days civil.Range, req *timekeepingv1.PayrollStagingRequest, employees ...int64) uuid.UUID {
	t.Helper()
	batches := begunOn(t, ctx, f.pool, civil.Range{From: days.From, To: days.To - 1}, req, employees...)
	for _, b := range batches {
		require.NoError(t, f.worker.handle(ctx, 1, b.id, b.batch))
	}
	return batches[0].id
}

func (f *ledgerFixture) cancel(ctx context.Context, id uuid.UUID) error {
	return work.InTx(ctx, f.pool, func(ctx context.Context, tx pgx.Tx) error { return cancel(ctx, tx, 1, id, rowvisibility.AllPersons()) })
}

// paid returns what all runs paid an employee: a line for each day, pay code and job.
func (f *ledgerFixture) paid(t *testing.T, ctx context.Context, employee int64) []string {
	t.Helper()
	rows, err := f.pool.Query(ctx, `SELECT paid_day || ' ' || pay_code || ' ' || job || ' ' || sum(seconds) FROM payroll_staged_row
		WHERE tenant_id = 1 AND employee_id = $1 GROUP BY paid_day, pay_code, job HAVING sum(seconds) <> 0`, employee)
	require.NoError(t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	slices.Sort(out)
	return out
}

// due returns what an employee is to be paid for some days, in the form of paid: what the
// timecard shows of them, and its corrections of them.
func (f *ledgerFixture) due(t *testing.T, ctx context.Context, days civil.Range, employee int64) []string {
	t.Helper()
	type key struct{ day, code, job string }
	sums := map[key]int64{}
	// Corrections of the last days apply on the day after them.
	for _, w := range f.Worked(ctx, t, days.From.String(), days.To.String(), employee)[0].GetTotals() {
		if day := cmp.Or(w.GetHistoricalDate(), w.GetDate()); day < days.To.String() {
			sums[key{day, w.GetPayCode().GetQualifier(), w.GetOrgJob().GetQualifier()}] += w.GetSeconds()
		}
	}
	out := []string{}
	for k, seconds := range sums {
		if seconds != 0 {
			out = append(out, fmt.Sprintf("%s %s %s %d", k.day, k.code, k.job, seconds))
		}
	}
	slices.Sort(out)
	return out
}

// someRequests are what random runs ask for: all, only what is signed off, all without or only
// corrections, and a pay code that nobody has.
var someRequests = []*timekeepingv1.PayrollStagingRequest{
	{},
	{IgnoreSignOff: new(false)},
	{HistoricalCorrections: "Excluded in totals"},
	{HistoricalCorrections: "Correction only"},
	{IncludePayCodes: []*commonv1.Ref{{Qualifier: new("Other")}}},
}

// The sum of what all runs staged is what the timecard shows, after any order of punches,
// sign-offs, removals, runs and cancellations.
func TestTheLedgerIsTheTruth(t *testing.T) {
	t.Parallel()
	ctx, f := newLedger(t)
	first := civil.Of(2026, 3, 2)
	whole := civil.Range{From: first - 1, To: first + 28}
	for seed := range uint64(8) {
		employee := int64(seed + 1)
		random := rand.New(rand.NewPCG(7, seed))
		minute := map[string]bool{}
		var runs []uuid.UUID
		var log []string
		for step := range 60 {
			week := civil.Range{From: first + civil.Date(7*random.IntN(4))}
			week.To = week.From + 7
			switch n := random.IntN(10); {
			case n < 5:
				day := first + civil.Date(random.IntN(27))
				at := fmt.Sprintf("%sT%02d:%02d", day, 6+random.IntN(14), random.IntN(60))
				if minute[at] {
					continue
				}
				minute[at] = true
				f.Punch(ctx, t, 1, employee, at)
				log = append(log, "punch "+at)
			case n < 6:
				err := f.Signoffs.SignOff(ctx, 1, person.Person{ID: employee, TimeZone: "Europe/Berlin"}, week)
				log = append(log, fmt.Sprintf("sign off through %s: %v", week.To-1, err))
			case n < 7:
				err := f.Signoffs.Reopen(ctx, 1, employee, week.From)
				log = append(log, fmt.Sprintf("open from %s: %v", week.From, err))
			case n < 9:
				kind := random.IntN(len(someRequests))
				runs = append(runs, f.stage(t, ctx, week, proto.CloneOf(someRequests[kind]), employee))
				log = append(log, fmt.Sprintf("stage %s by request %d", week, kind))
			case len(runs) > 0:
				require.NoError(t, f.cancel(ctx, runs[random.IntN(len(runs))]))
				log = append(log, "cancel a run")
			}
			if step%20 == 19 {
				f.stage(t, ctx, whole, &timekeepingv1.PayrollStagingRequest{}, employee)
				require.Equal(t, f.due(t, ctx, whole, employee), f.paid(t, ctx, employee), "seed %d: %v", seed, log)
			}
		}
	}
}

// Two runs of one employee at the same time do not pay twice.
func TestRunsAtTheSameTime(t *testing.T) {
	t.Parallel()
	ctx, f := newLedger(t)
	days := civil.Range{From: civil.Of(2026, 3, 2), To: civil.Of(2026, 3, 9)}
	f.Punch(ctx, t, 1, 1, "2026-03-02T08:00", "2026-03-02T16:00")
	last := civil.Range{From: days.From, To: days.To - 1}
	a := begunOn(t, ctx, f.pool, last, &timekeepingv1.PayrollStagingRequest{}, 1)[0]
	b := begunOn(t, ctx, f.pool, last, &timekeepingv1.PayrollStagingRequest{}, 1)[0]
	books, err := f.worker.readBooks(ctx, a)
	require.NoError(t, err)
	require.NoError(t, f.worker.handle(ctx, 1, b.id, 0), "the other run ends meanwhile")
	err = f.worker.finish(ctx, a, func(ctx context.Context, tx pgx.Tx) error {
		return insertStaged(ctx, tx, a, []stagingEmployee{{Person: person.Person{ID: 1}, head: books[1].Head, fields: []string{}}})
	})
	require.Equal(t, "WFP-90004", fault.FromError(err).Code, "%v", err)
	require.NoError(t, f.worker.handle(ctx, 1, a.id, 0), "the batch is read again")
	assert.Equal(t, f.due(t, ctx, days, 1), f.paid(t, ctx, 1))
}

// What an import changes while a run reads is paid by the next run.
func TestChangesDuringARun(t *testing.T) {
	t.Parallel()
	ctx, f := newLedger(t)
	days := civil.Range{From: civil.Of(2026, 3, 2), To: civil.Of(2026, 3, 9)}
	next := civil.Range{From: days.To, To: days.To + 7}
	f.Punch(ctx, t, 1, 1, "2026-03-02T08:00", "2026-03-02T16:00")
	f.SignOff(ctx, t, 1, days)
	b := begunOn(t, ctx, f.pool, civil.Range{From: days.From, To: days.To - 1}, &timekeepingv1.PayrollStagingRequest{}, 1)[0]
	books, err := f.worker.readBooks(ctx, b)
	require.NoError(t, err)
	known, err := f.worker.totals(ctx, b, books)
	require.NoError(t, err)
	f.Punch(ctx, t, 1, 1, "2026-03-03T08:00", "2026-03-03T16:00")
	require.NoError(t, f.worker.finish(ctx, b, func(ctx context.Context, tx pgx.Tx) error {
		return insertStaged(ctx, tx, b, []stagingEmployee{{
			Person: person.Person{ID: 1}, head: books[1].Head, fields: []string{}, totals: b.rules.difference(books[1], known[0].Totals), coveredThrough: &b.rules.days.To,
		}})
	}))
	f.stage(t, ctx, next, &timekeepingv1.PayrollStagingRequest{}, 1)
	assert.Equal(t, []string{"2026-03-02 Regular  28800", "2026-03-03 Regular  28800"}, f.paid(t, ctx, 1))
}

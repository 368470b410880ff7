package components

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

const (
	timecardTotals = "timecard-totals"
	timecardWeek   = "timecard-week"
)

// The days of both figures, and the hours of each worked day.
const (
	totalsFrom, totalsTo       = "2026-03-01", "2026-03-30"
	weekFrom, weekTo           = "2026-03-16", "2026-03-22"
	punchYears, punchMonth     = "2016-03-23", "2026-02-21"
	punchEnd                   = "2026-03-22"
	hoursOfDay                 = 8.5
	totalsPersons, totalsShort = 500, 100
)

// fillDays gives employees 8.5 hours in four punches on each day from $2 to $3.
const fillDays = `INSERT INTO punch (tenant_id, employee_id, at, time_zone, direction, is_transfer, job, work_rule, no_deduction, body)
	SELECT 1, p, d + t, 'UTC', 0, false, '', '', false, ''
	FROM unnest($1::bigint[]) AS p, generate_series($2::timestamptz, $3::timestamptz, '1 day') AS d,
		(VALUES (interval '8 hours'), (interval '12 hours'), (interval '12 hours 30 minutes'), (interval '17 hours')) AS v (t)`

// sumDays returns the sums of each employee and day of the same punches.
const sumDays = `SELECT employee_id, date '1970-01-01' + floor(extract(epoch FROM began) / 86400)::int, job, sum(extract(epoch FROM ended - began))::bigint
	FROM (SELECT employee_id, job, at AS began, lead(at) OVER person AS ended, row_number() OVER person AS n
		FROM punch WHERE tenant_id = 1 AND employee_id = ANY($1) AND at >= '2026-03-01' AND at < '2026-03-31'
		WINDOW person AS (PARTITION BY employee_id ORDER BY at)) AS paired
	WHERE n % 2 = 1 AND ended IS NOT NULL GROUP BY 1, 2, 3`

// timecardFigures compares the totals of 500 employees and 30 days with one statement, and a week
// of an employee with ten years of punches with the same week of one with a month of them.
func timecardFigures(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	server := launch.Standalone(h, "--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles)
	api := scenario.API{Target: server.Target(h)}
	db, err := pgx.Connect(h.Context(), launch.PrivatePostgres(server.StateDir)(fixture.TimekeepingDatabase))
	if err != nil {
		return nil, err
	}
	h.Cleanup(func() { _ = db.Close(context.WithoutCancel(h.Context())) }) // It has nothing open.
	var figures []harness.Figure
	for _, f := range []struct {
		name    string
		measure func(*harness.Host, harness.Options, scenario.API, *pgx.Conn) (harness.Figure, error)
	}{{timecardTotals, totalsFigure}, {timecardWeek, weekFigure}} {
		if !o.Wants(f.name) {
			continue
		}
		figure, err := f.measure(h, o, api, db)
		if err != nil {
			return figures, err
		}
		figures = append(figures, figure)
	}
	return figures, nil
}

func totalsFigure(h *harness.Host, o harness.Options, api scenario.API, db *pgx.Conn) (harness.Figure, error) {
	size := totalsPersons
	if o.Short {
		size = totalsShort
	}
	f := harness.Figure{Name: timecardTotals, Unit: "ms", AtMost: 4, Note: fmt.Sprintf("the totals of %d employees and 30 days, against one statement that sums the same punches", size)}
	crew, err := scenario.NewCrew(h.Context(), api, size, fixture.From)
	if err != nil {
		return f, err
	}
	if err := fill(h.Context(), db, crew.Persons, totalsFrom, totalsTo); err != nil {
		return f, err
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds,
		harness.P50(func(ctx context.Context) error { return readTotals(ctx, api, crew.Persons) }),
		harness.P50(func(ctx context.Context) error { return sumTotals(ctx, db, crew.Persons) }))
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return f, err
}

func weekFigure(h *harness.Host, o harness.Options, api scenario.API, db *pgx.Conn) (harness.Figure, error) {
	f := harness.Figure{Name: timecardWeek, Unit: "ms", AtMost: 1.3, Note: "a week of an employee with ten years of punches, against one with a month of them"}
	crew, err := scenario.NewCrew(h.Context(), api, 2, fixture.From)
	if err != nil {
		return f, err
	}
	for i, first := range []string{punchYears, punchMonth} {
		if err := fill(h.Context(), db, crew.Persons[i:i+1], first, punchEnd); err != nil {
			return f, err
		}
	}
	read := func(i int) harness.Measure {
		return harness.P50(func(ctx context.Context) error { return readWeek(ctx, api, crew.Persons[i]) })
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds, read(0), read(1))
	if err == nil {
		f.Measured, f.Baseline = samples[0], samples[1]
	}
	return f, err
}

// fill stores the punches of employees on some days.
func fill(ctx context.Context, db *pgx.Conn, ids []int64, first, last string) error {
	if _, err := db.Exec(ctx, fillDays, ids, first, last); err != nil {
		return fmt.Errorf("fill punches: %w", err)
	}
	_, err := db.Exec(ctx, `ANALYZE punch`)
	return err
}

// timecard is the part of a timecard that the figures read.
type timecard struct {
	Punches []struct{ ID int64 }
	Totals  []struct{ HoursAmount float64 }
}

// readTimecards reads timecards. An empty selection selects everything.
func readTimecards(ctx context.Context, api scenario.API, ids []int64, from, to string, selection ...string) ([]timecard, error) {
	var list []timecard
	_, err := api.Call(ctx, http.MethodPost, "/v1/timekeeping/timecard/multi_read", scenario.Object{
		"select": selection,
		"where": scenario.Object{
			"employees": scenario.Object{"ids": ids}, "dateRange": scenario.Object{"startDate": from, "endDate": to},
		},
	}, &list)
	return list, err
}

// readTotals reads the totals of employees, and refuses any that is not as it must be.
func readTotals(ctx context.Context, api scenario.API, ids []int64) error {
	list, err := readTimecards(ctx, api, ids, totalsFrom, totalsTo, "TOTALS")
	if err != nil {
		return err
	}
	days := 0
	for _, t := range list {
		for _, total := range t.Totals {
			if total.HoursAmount != hoursOfDay {
				return fmt.Errorf("a day has %v hours instead of %v", total.HoursAmount, hoursOfDay)
			}
			days++
		}
	}
	return countDays(days, len(ids))
}

// sumTotals runs the statement, and refuses sums that are not as they must be.
func sumTotals(ctx context.Context, db *pgx.Conn, ids []int64) error {
	rows, err := db.Query(ctx, sumDays, ids)
	if err != nil {
		return err
	}
	type sum struct {
		Employee int64
		Day      time.Time
		Job      string
		Seconds  int64
	}
	sums, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sum])
	if err != nil {
		return err
	}
	for _, s := range sums {
		if s.Seconds != hoursOfDay*3600 {
			return fmt.Errorf("a day has %d seconds instead of %v hours", s.Seconds, hoursOfDay)
		}
	}
	return countDays(len(sums), len(ids))
}

// countDays refuses sums that are not of 30 days of each employee.
func countDays(days, employees int) error {
	if days != employees*30 {
		return fmt.Errorf("%d days of %d employees have totals instead of 30 each", days, employees)
	}
	return nil
}

// readWeek reads all of a week, and refuses one that has not all punches and totals.
func readWeek(ctx context.Context, api scenario.API, id int64) error {
	list, err := readTimecards(ctx, api, []int64{id}, weekFrom, weekTo)
	if err == nil && (len(list) != 1 || len(list[0].Punches) != 28 || len(list[0].Totals) != 7) {
		err = fmt.Errorf("the week is %+v instead of seven days with four punches each", list)
	}
	return err
}

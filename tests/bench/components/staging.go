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

const stagedMonth = "staging"

// fillPunches gives each employee of the crew eight hours on every day of a month, from 22:00 on
// for every second employee.
const fillPunches = `INSERT INTO punch (tenant_id, employee_id, at, time_zone, direction, is_transfer, job, work_rule, no_deduction, body)
	SELECT 1, p, d + CASE WHEN p % 2 = 0 THEN interval '22 hours' ELSE interval '8 hours' END + t, 'UTC', 0, false, '', '', false, ''
	FROM unnest($1::bigint[]) AS p, generate_series(timestamptz '2026-03-01 00:00+00', '2026-03-30 00:00+00', '1 day') AS d,
		(VALUES (interval '0'), (interval '8 hours')) AS v (t)`

// sumPunches stores the sums that staging computes from the same punches, which are all in UTC.
const sumPunches = `INSERT INTO staging_baseline
	SELECT employee_id, date '1970-01-01' + floor(extract(epoch FROM began) / 86400)::int, job, sum(extract(epoch FROM ended - began))::bigint
	FROM (SELECT employee_id, job, at AS began, lead(at) OVER person AS ended, row_number() OVER person AS n
		FROM punch WHERE tenant_id = 1 AND employee_id = ANY($1) AND at >= '2026-03-01' AND at < '2026-04-01'
		WINDOW person AS (PARTITION BY employee_id ORDER BY at)) AS paired
	WHERE n % 2 = 1 AND ended IS NOT NULL GROUP BY 1, 2, 3`

// stagingFigures compares staging a month of a crew with one statement.
func stagingFigures(h *harness.Host, o harness.Options) ([]harness.Figure, error) {
	server := launch.Standalone(h, "--log-level", "warn", "--admin-profiles", "--admin-address", o.Profiles)
	api := scenario.API{Target: server.Target(h)}
	f := harness.Figure{Name: stagedMonth, Unit: "s", AtMost: 5, Note: fmt.Sprintf("a month of %d employees until all is staged, against one INSERT of the same sums", o.CrewSize())}
	crew, err := scenario.NewCrew(h.Context(), api, o.CrewSize(), fixture.From)
	if err != nil {
		return nil, err
	}
	db, err := pgx.Connect(h.Context(), launch.PrivatePostgres(server.StateDir)(fixture.TimekeepingDatabase))
	if err != nil {
		return nil, err
	}
	h.Cleanup(func() { _ = db.Close(context.WithoutCancel(h.Context())) }) // The connection has no open transaction.
	if _, err := db.Exec(h.Context(), fillPunches, crew.Persons); err != nil {
		return nil, fmt.Errorf("fill punches: %w", err)
	}
	if _, err := db.Exec(h.Context(), `CREATE TABLE staging_baseline (employee_id bigint, day date, job text, seconds bigint, PRIMARY KEY (employee_id, day, job))`); err != nil {
		return nil, err
	}
	if _, err := db.Exec(h.Context(), `ANALYZE punch`); err != nil {
		return nil, err
	}
	samples, err := harness.Interleave(h.Context(), o.Rounds, staging(api, crew), summing(db, crew))
	if err != nil {
		return nil, err
	}
	if err := sameSums(h.Context(), db); err != nil {
		return nil, err
	}
	f.Measured, f.Baseline = samples[0], samples[1]
	return []harness.Figure{f}, nil
}

// staging measures a run from the request until its end. It cancels the previous run: a run stages
// only data that no other run has staged.
func staging(api scenario.API, crew *scenario.Crew) harness.Measure {
	const path = "/v1/commons/payroll/staging/"
	var run struct{ RequestID, Status string }
	return func(ctx context.Context, _ int) (float64, error) {
		if run.RequestID != "" {
			if _, err := api.Call(ctx, http.MethodPost, path+run.RequestID+"/cancel", nil, &run); err != nil {
				return 0, err
			}
		}
		began := time.Now()
		_, err := api.Call(ctx, http.MethodPost, path+"async", scenario.Object{
			"executionId": scenario.Unique("bench"), "employees": scenario.Object{"ids": crew.Persons},
			"dateRange": scenario.Object{"startDateTime": "2026-03-01T00:00:00", "endDateTime": "2026-03-31T00:00:00"},
		}, &run)
		for err == nil && run.Status != "success" {
			if run.Status == "failed" {
				return 0, fmt.Errorf("the run %s failed", run.RequestID)
			}
			time.Sleep(10 * time.Millisecond) // Pause between two polls.
			_, err = api.Call(ctx, http.MethodGet, path+run.RequestID+"/status", nil, &run)
		}
		return time.Since(began).Seconds(), err
	}
}

// summing measures the statement.
func summing(db *pgx.Conn, crew *scenario.Crew) harness.Measure {
	return func(ctx context.Context, _ int) (float64, error) {
		if _, err := db.Exec(ctx, `TRUNCATE staging_baseline`); err != nil {
			return 0, err
		}
		began := time.Now()
		_, err := db.Exec(ctx, sumPunches, crew.Persons)
		return time.Since(began).Seconds(), err
	}
}

// sameSums returns an error if the sums differ.
func sameSums(ctx context.Context, db *pgx.Conn) error {
	var differ, staged int
	err := db.QueryRow(ctx, `SELECT count(*) FILTER (WHERE y.seconds IS DISTINCT FROM r.seconds), count(r.seconds)
		FROM staging_baseline y FULL JOIN (SELECT employee_id, apply_date, sum(seconds) AS seconds FROM payroll_staged_row
			WHERE staging_id = (SELECT id FROM payroll_staging ORDER BY created_at DESC LIMIT 1) GROUP BY 1, 2) r
		ON y.employee_id = r.employee_id AND y.day = r.apply_date`).Scan(&differ, &staged)
	if err == nil && (differ > 0 || staged == 0) {
		err = fmt.Errorf("%d sums differ of %d that were staged", differ, staged)
	}
	return err
}

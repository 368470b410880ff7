package propagator

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/natstest"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

const benchEmployees = 10_000

// BenchmarkWorker compares what workers write with a COPY of the same rows into
// the same table by a role that row-level security does not hold up. Rounds of
// both alternate; the medians are reported.
//
// The first two cases give 10,000 employees their first span, the third one
// replaces these by two each.
func BenchmarkWorker(b *testing.B) {
	for _, c := range []struct {
		name    string
		workers int
		replace bool
	}{{"first-spans/1-worker", 1, false}, {"first-spans/2-workers", 2, false}, {"replace/2-workers", 2, true}} {
		b.Run(c.name, func(b *testing.B) {
			w := newFixture(b)
			w.term(5)
			w.members(5, "2026-01-01", "3000-01-01", ids(1, benchEmployees)...)
			w.assign(assignment{id: 50, term: 5, from: "2026-01-05"})
			if c.replace {
				w.assign(assignment{id: 51, term: 5, from: "2026-06-01", pattern: 14, override: true})
			}
			p := w.propagator(Config{Concurrency: c.workers})
			w.exec("ANALYZE")
			var workers, copies []time.Duration
			rows := 0
			for b.Loop() {
				w.clear(c.replace)
				workers = append(workers, w.timeWorkers(p, c.workers))
				rows = w.count("SELECT count(*) FROM span")
				copies = append(copies, w.timeCopy(rows))
			}
			worker, raw := perSecond(rows, workers), perSecond(rows, copies)
			b.ReportMetric(worker, "spans/s")
			b.ReportMetric(raw, "copied-spans/s")
			b.ReportMetric(worker/raw, "of-copy")
		})
	}
}

// clear takes the spans away, or leaves each employee with one that must go.
func (w *fixture) clear(replace bool) {
	w.exec("TRUNCATE span, span_past_block, propagation, outbox CASCADE")
	if replace {
		w.exec(`INSERT INTO span (tenant_id, employee_id, lane, from_date, to_date, pattern_id, position, day_count,
			assignment_id, inherited, propagation_id)
			SELECT 1, n, 0, '2026-01-05', '3000-01-01', 7, 0, 7, 50, true, 1 FROM generate_series(1, $1::int) AS n`, benchEmployees)
	}
	w.exec("VACUUM span, span_past_block")
}

func (w *fixture) timeWorkers(p *Propagator, workers int) time.Duration {
	id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
	w.plan(p)
	batches := make(chan int32, 100)
	for n := range w.count("SELECT batches_total FROM propagation WHERE id = $1", id) {
		batches <- int32(n)
	}
	close(batches)
	began := time.Now()
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for n := range batches {
				require.NoError(w.t, p.process(w.ctx, batchKey{id, n}))
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	require.Equal(w.t, propagation.StateFinished, w.state(id))
	return took
}

// timeCopy copies as many rows. The owner of a table bypasses policies that are
// not forced on it.
func (w *fixture) timeCopy(rows int) time.Duration {
	w.exec("TRUNCATE span")
	w.exec("ALTER TABLE span NO FORCE ROW LEVEL SECURITY")
	defer w.exec("ALTER TABLE span FORCE ROW LEVEL SECURITY")
	from, middle, to := day("2026-01-05"), day("2026-06-01"), day("3000-01-01")
	perEmployee := rows / benchEmployees
	row := make([]any, 11)
	i := -1
	began := time.Now()
	_, err := w.pool.CopyFrom(w.ctx, pgx.Identifier{"span"}, []string{
		"tenant_id", "employee_id", "lane", "from_date", "to_date", "pattern_id", "position", "day_count", "assignment_id",
		"inherited", "propagation_id",
	}, pgx.CopyFromFunc(func() ([]any, error) {
		if i++; i == rows {
			return nil, nil
		}
		first, end := from, to
		if perEmployee == 2 && i%2 == 0 {
			end = middle
		} else if perEmployee == 2 {
			first = middle
		}
		row = append(row[:0], int64(1), int64(1+i/perEmployee), int16(0), first, end, int64(7), int32(0), int32(7), int64(50), true, int64(1))
		return row, nil
	}))
	took := time.Since(began)
	require.NoError(w.t, err)
	return took
}

func day(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return t
}

func perSecond(rows int, rounds []time.Duration) float64 {
	slices.Sort(rounds)
	return float64(rows) / rounds[len(rounds)/2].Seconds()
}

// BenchmarkEndToEnd measures from the commit of a change until its propagation
// has finished, by way of outbox, broker, planner and workers. Every employee's
// span is replaced. The medians of both parts are reported.
func BenchmarkEndToEnd(b *testing.B) {
	for _, employees := range []int64{10, 10_000} {
		b.Run(fmt.Sprint(employees), func(b *testing.B) {
			w := newFixture(b)
			w.term(5)
			w.members(5, "2026-01-01", "3000-01-01", ids(1, employees)...)
			w.exec("ANALYZE")
			w.pool = w.run(natstest.New(b), Config{}).pool // Its transactions wake the relay.
			next := int64(100)
			for b.Loop() {
				b.StopTimer()
				next++
				w.exec("UPDATE pattern_assignment SET believed_until = now() WHERE believed_until = 'infinity'")
				w.assign(assignment{id: next, term: 5, from: "2026-01-05", pattern: int(next%20 + 1), override: true})
				b.StartTimer()
				id := w.start(propagation.Request{Cause: propagation.CausePattern, TermIDs: []int64{5}})
				for w.state(id) != propagation.StateFinished {
					time.Sleep(time.Millisecond)
				}
			}
			var planned, worked float64
			require.NoError(b, w.pool.QueryRow(w.ctx, `
				SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM started_at - accepted_at)),
				    percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - started_at)) FROM propagation`,
			).Scan(&planned, &worked))
			b.ReportMetric(1000*planned, "ms-until-planned")
			b.ReportMetric(1000*worked, "ms-until-finished")
		})
	}
}

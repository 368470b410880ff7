package payrollstaging

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// maxFailures is the maximum number of failures of a batch; after them, the run ends without it.
// Crashes of workers do not count.
const maxFailures = 6

// concurrency is the number of batches that one process stages at the same time.
const concurrency = 2

const work pg.Unaudited = "the request for the run has its row"

// Worker stages batches.
type Worker struct {
	deps    Deps
	metrics *metrics
}

// NewWorker returns a Worker, and registers its metrics.
func NewWorker(deps Deps, registry prometheus.Registerer) (*Worker, error) {
	m, err := newMetrics(registry)
	return &Worker{deps: deps, metrics: m}, err
}

// Consumer returns the consumer that stages requested batches.
func (w *Worker) Consumer() bus.Consumer {
	consumer := bus.NewConsumer("timekeeping", &timekeepingv1.PayrollStagingBatchRequested{})
	consumer.Concurrency, consumer.Prefetch = concurrency, concurrency
	consumer.Handle = func(ctx context.Context, m bus.Message) error {
		event, err := bus.Decode[*timekeepingv1.PayrollStagingBatchRequested](m)
		if err != nil {
			return err
		}
		id, err := uuid.Parse(event.GetRequestId())
		if err != nil {
			return fmt.Errorf("stage payroll: %w", err)
		}
		return w.handle(ctx, id, event.GetBatch())
	}
	return consumer
}

// handle stages a batch, or records a failure.
func (w *Worker) handle(ctx context.Context, id uuid.UUID, batch int32) error {
	watch := clock.Start()
	err := w.stage(ctx, id, batch)
	if err == nil {
		w.metrics.batch.Observe(watch.Elapsed().Seconds())
		w.metrics.batches.WithLabelValues(resultStaged).Inc()
		return nil
	}
	if ctx.Err() != nil || errors.Is(err, payledger.ErrMoved) || pgerr.Unavailable(err) || fault.HasStatus(err, http.StatusServiceUnavailable) {
		w.metrics.batches.WithLabelValues(resultAgain).Inc()
		return err
	}
	gaveUp, noteErr := w.noteFailure(ctx, id, batch)
	if noteErr == nil && gaveUp {
		w.metrics.batches.WithLabelValues(resultFailed).Inc()
		return nil // The details of the run report the failure.
	}
	w.metrics.batches.WithLabelValues(resultAgain).Inc()
	return errors.Join(err, noteErr)
}

// stagedBatch is a stored batch.
type stagedBatch struct {
	id        uuid.UUID
	batch     int32
	rules     rules
	employees []int64
}

// load returns a batch that is not yet staged, or nil.
func (w *Worker) load(ctx context.Context, id uuid.UUID, batch int32) (*stagedBatch, error) {
	tenantID := tenant.Of(ctx)
	b := &stagedBatch{id: id, batch: batch}
	var body []byte
	err := w.deps.Pool.QueryRow(ctx, `SELECT s.body, b.employee_ids FROM payroll_staging s
		JOIN payroll_staging_batch b ON b.tenant_id = s.tenant_id AND b.staging_id = s.id AND b.batch = $3
		WHERE s.tenant_id = $1 AND s.id = $2 AND NOT b.staged`, tenantID, id, batch).Scan(&body, &b.employees)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read batch: %w", err)
	}
	req := &timekeepingv1.PayrollStagingRequest{}
	if err := proto.Unmarshal(body, req); err != nil {
		return nil, fmt.Errorf("read batch: %w", err)
	}
	b.rules, err = parse(req)
	return b, err
}

// maxMoves is the maximum number of times that a batch is read again because another run staged one
// of its employees.
const maxMoves = 3

// stage stages a batch, unless it is already staged.
func (w *Worker) stage(ctx context.Context, id uuid.UUID, batch int32) error {
	var err error
	for range maxMoves {
		if err = w.tryStage(ctx, id, batch); !errors.Is(err, payledger.ErrMoved) {
			return err
		}
	}
	return err
}

func (w *Worker) tryStage(ctx context.Context, id uuid.UUID, batch int32) error {
	b, err := w.load(ctx, id, batch)
	if err != nil || b == nil {
		return err
	}
	persons, err := w.persons(ctx, b)
	if err != nil {
		return err
	}
	fields, err := w.customFields(ctx, b)
	if err != nil {
		return err
	}
	books, err := w.readBooks(ctx, b)
	if err != nil {
		return err
	}
	known, err := w.totals(ctx, b, books)
	if err != nil {
		return err
	}
	var staged []stagingEmployee
	for _, e := range known {
		p, there := persons[e.ID]
		if !there || !b.rules.chooses(e.PayRule) {
			continue
		}
		staged = append(staged, stagingEmployee{
			Person: p, fields: fields[e.ID], head: books[e.ID].Head, coveredThrough: b.rules.coveredThrough(books[e.ID].Open),
			settled: b.rules.settles(books[e.ID]),
			totals:  b.rules.difference(books[e.ID], e.Totals),
		})
	}
	return w.finish(ctx, b, func(ctx context.Context, tx pgx.Tx) error { return insertStaged(ctx, tx, b, staged) })
}

// totals returns the totals of the employees of a batch on the days of the run, and on the
// other days that are compared with the ledger.
func (w *Worker) totals(ctx context.Context, b *stagedBatch, books map[int64]*book) ([]Employee, error) {
	known, err := w.deps.Source.Totals(ctx, b.employees, b.rules.days)
	if err != nil {
		return nil, fmt.Errorf("read worked time: %w", err)
	}
	at := make(map[int64]*Employee, len(known))
	for i := range known {
		at[known[i].ID] = &known[i]
	}
	others := map[civil.Range][]int64{}
	for _, id := range b.employees {
		for _, days := range books[id].others {
			others[days] = append(others[days], id)
		}
	}
	for days, ids := range others {
		before, err := w.deps.Source.Totals(ctx, ids, civil.Range{From: days.From, To: days.To - 1})
		if err != nil {
			return nil, fmt.Errorf("read worked time: %w", err)
		}
		for _, e := range before {
			at[e.ID].Totals = append(at[e.ID].Totals, e.Totals...)
		}
	}
	return known, nil
}

// stagingEmployee has the rows of an employee.
type stagingEmployee struct {
	person.Person
	fields []string
	totals []Total
	head   payledger.Head
	// coveredThrough is the last staged day; nil if the run stages only corrections.
	coveredThrough *civil.Date
	// settled is the day before which the run compared all changes.
	settled civil.Date
}

// coveredThrough returns the last day whose totals a run stages for an employee, or nil.
func (r *rules) coveredThrough(open civil.Date) *civil.Date {
	last := r.days.To
	if r.onlySignedOff {
		last = min(last, open-1)
	}
	if last < r.days.From || !slices.Contains(r.kinds, Worked) {
		return nil
	}
	return &last
}

// persons returns the employees of a batch who still exist.
func (w *Worker) persons(ctx context.Context, b *stagedBatch) (map[int64]person.Person, error) {
	keys := make([]person.Key, len(b.employees))
	for i, id := range b.employees {
		keys[i] = person.Key{ID: id}
	}
	found, err := w.deps.Persons.Find(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]person.Person, len(found))
	for _, p := range found {
		out[p.ID] = p
	}
	return out, nil
}

// customFields returns the values of the custom fields by employee, in the order of the request.
func (w *Worker) customFields(ctx context.Context, b *stagedBatch) (map[int64][]string, error) {
	out := make(map[int64][]string, len(b.employees))
	names := b.rules.customFields
	at := make(map[string]int, len(names))
	for i, name := range names {
		at[name] = i
	}
	for _, id := range b.employees {
		out[id] = make([]string, len(names))
	}
	if len(names) == 0 {
		return out, nil
	}
	response, err := w.deps.Commons.ReadCustomFields(ctx, &commonsv1.ReadCustomFieldsRequest{PersonIds: b.employees, Names: names})
	if err != nil {
		return nil, fmt.Errorf("read custom fields: %w", err)
	}
	for _, f := range response.GetFields() {
		if values := out[f.GetPersonId()]; values != nil {
			values[at[f.GetName()]] = f.GetValue()
		}
	}
	return out, nil
}

// finish ends a batch and stores its rows in the same transaction. It does so only once: a second
// worker finds the batch staged.
func (w *Worker) finish(ctx context.Context, b *stagedBatch, store func(context.Context, pgx.Tx) error) error {
	return work.InTx(ctx, w.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		var done bool
		err := tx.QueryRow(ctx, `SELECT staged FROM payroll_staging_batch WHERE tenant_id = $1 AND staging_id = $2 AND batch = $3 FOR UPDATE`,
			tenant.Of(ctx), b.id, b.batch).Scan(&done)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && done {
			return nil
		}
		if err != nil {
			return fmt.Errorf("lock batch: %w", err)
		}
		if err := store(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE payroll_staging_batch SET staged = true WHERE tenant_id = $1 AND staging_id = $2 AND batch = $3`,
			tenant.Of(ctx), b.id, b.batch); err != nil {
			return fmt.Errorf("end batch: %w", err)
		}
		// The state of the run depends on the rows of all batches. A statement that waits for a
		// lock sees the rows from before, so another statement waits. Both batches hold the key
		// of the run because their rows refer to it: FOR UPDATE would be a deadlock.
		if _, err := tx.Exec(ctx, `SELECT FROM payroll_staging WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`, tenant.Of(ctx), b.id); err != nil {
			return fmt.Errorf("lock run: %w", err)
		}
		if _, err := tx.Exec(ctx, `UPDATE payroll_staging s SET batches_left = batches_left - 1, moved_at = clock_timestamp(),
				finished_at = CASE WHEN batches_left = 1 THEN clock_timestamp() END,
				state = CASE WHEN batches_left > 1 THEN 'in_progress'
					WHEN EXISTS (SELECT FROM payroll_staged_employee e WHERE e.tenant_id = $1 AND e.staging_id = $2 AND e.error_code <> '')
					 AND NOT EXISTS (SELECT FROM payroll_staged_employee e WHERE e.tenant_id = $1 AND e.staging_id = $2 AND e.error_code = '')
					THEN 'failed' ELSE 'success' END
			WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), b.id); err != nil {
			return fmt.Errorf("note progress: %w", err)
		}
		return nil
	})
}

// noteFailure counts a failure of a batch. After maxFailures it ends the batch, and the details of
// the run name its employees.
func (w *Worker) noteFailure(ctx context.Context, id uuid.UUID, batch int32) (gaveUp bool, err error) {
	tenantID := tenant.Of(ctx)
	var attempts int
	err = work.InTx(ctx, w.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, `UPDATE payroll_staging_batch SET attempts = attempts + 1
			WHERE tenant_id = $1 AND staging_id = $2 AND batch = $3 RETURNING attempts`, tenantID, id, batch).Scan(&attempts)
	})
	if err != nil || attempts < maxFailures {
		return false, err
	}
	b := &stagedBatch{id: id, batch: batch}
	return true, w.finish(ctx, b, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO payroll_staged_employee
				(tenant_id, staging_id, employee_id, person_number, full_name, error_code, message, custom_fields)
			SELECT $1, $2, e, coalesce(p.person_number, ''), coalesce(p.full_name, ''), $4, $5, '{}'
			FROM payroll_staging_batch b CROSS JOIN unnest(b.employee_ids) AS e LEFT JOIN person p ON p.tenant_id = $1 AND p.id = e
			WHERE b.tenant_id = $1 AND b.staging_id = $2 AND b.batch = $3`,
			tenantID, id, batch, CodeNotStaged, "The time of these employees could not be read. Stage them again.")
		return err
	})
}

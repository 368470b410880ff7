package payrollstaging

import (
	"context"
	"errors"
	"fmt"
	"net/http"

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
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// maxFailures is how often a batch may fail before the run ends without it. A worker
// that died does not count.
const maxFailures = 6

// concurrency is how many batches one process stages at a time.
const concurrency = 2

const work pg.Unaudited = "the request for the run has its row"

// Worker stages batches.
type Worker struct {
	deps    Deps
	metrics *metrics
}

// NewWorker makes a Worker, whose metrics are in the registry.
func NewWorker(deps Deps, registry prometheus.Registerer) (*Worker, error) {
	m, err := newMetrics(registry)
	return &Worker{deps: deps, metrics: m}, err
}

// Consumer stages the batches that are asked for.
func (w *Worker) Consumer() bus.Consumer {
	consumer := bus.ConsumerOf("timekeeping", &timekeepingv1.PayrollStagingBatchRequested{})
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
		return w.handle(ctx, m.Tenant, id, event.GetBatch())
	}
	return consumer
}

// handle stages a batch, or notes that it failed.
func (w *Worker) handle(ctx context.Context, tenantID int64, id uuid.UUID, batch int32) error {
	watch := clock.Start()
	err := w.stage(ctx, tenantID, id, batch)
	if err == nil {
		w.metrics.batch.Observe(watch.Elapsed().Seconds())
		w.metrics.batches.WithLabelValues(resultStaged).Inc()
		return nil
	}
	if ctx.Err() != nil || pgerr.Unavailable(err) || fault.HasStatus(err, http.StatusServiceUnavailable) {
		w.metrics.batches.WithLabelValues(resultAgain).Inc()
		return err
	}
	gaveUp, noteErr := w.noteFailure(ctx, tenantID, id, batch)
	if noteErr == nil && gaveUp {
		w.metrics.batches.WithLabelValues(resultFailed).Inc()
		return nil // The details of the run say so.
	}
	w.metrics.batches.WithLabelValues(resultAgain).Inc()
	return errors.Join(err, noteErr)
}

// stagedBatch is what is stored of a batch.
type stagedBatch struct {
	tenantID  int64
	id        uuid.UUID
	batch     int32
	rules     rules
	employees []int64
}

// load returns a batch that is still to be staged, or nil.
func (w *Worker) load(ctx context.Context, tenantID int64, id uuid.UUID, batch int32) (*stagedBatch, error) {
	b := &stagedBatch{tenantID: tenantID, id: id, batch: batch}
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

// stage stages a batch unless it is staged.
func (w *Worker) stage(ctx context.Context, tenantID int64, id uuid.UUID, batch int32) error {
	b, err := w.load(ctx, tenantID, id, batch)
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
	known, err := w.deps.Source.Totals(ctx, tenantID, b.employees, b.rules.days)
	if err != nil {
		return fmt.Errorf("read worked time: %w", err)
	}
	var staged []stagingEmployee
	for _, e := range known {
		p, there := persons[e.ID]
		if !there || !b.rules.chooses(e.PayRule) {
			continue
		}
		s := stagingEmployee{Person: p, fields: fields[e.ID]}
		for _, t := range e.Totals {
			if b.rules.stages(t) {
				s.totals = append(s.totals, t)
			}
		}
		staged = append(staged, s)
	}
	return w.finish(ctx, b, func(ctx context.Context, tx pgx.Tx) error { return insertStaged(ctx, tx, b, staged) })
}

// stagingEmployee is what is stored of an employee.
type stagingEmployee struct {
	person.Person
	fields []string
	totals []Total
}

// persons returns the employees of a batch who are still there.
func (w *Worker) persons(ctx context.Context, b *stagedBatch) (map[int64]person.Person, error) {
	keys := make([]person.Key, len(b.employees))
	for i, id := range b.employees {
		keys[i] = person.Key{ID: id}
	}
	found, err := w.deps.Persons.Find(ctx, b.tenantID, keys)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]person.Person, len(found))
	for _, p := range found {
		out[p.ID] = p
	}
	return out, nil
}

// customFields returns the values of each employee in the order of the request.
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

// finish ends a batch with what store stores, all or nothing and once: whoever comes
// second finds the batch staged.
func (w *Worker) finish(ctx context.Context, b *stagedBatch, store func(context.Context, pgx.Tx) error) error {
	return work.InTx(ctx, w.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		var done bool
		err := tx.QueryRow(ctx, `SELECT staged FROM payroll_staging_batch WHERE tenant_id = $1 AND staging_id = $2 AND batch = $3 FOR UPDATE`,
			b.tenantID, b.id, b.batch).Scan(&done)
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
			b.tenantID, b.id, b.batch); err != nil {
			return fmt.Errorf("end batch: %w", err)
		}
		// What other batches stored by now counts, so they are waited for by a statement
		// of their own: one that waits itself looks at the rows that it began with. Both
		// hold the key of the run, to which their rows refer, so that FOR UPDATE would be
		// a deadlock.
		if _, err := tx.Exec(ctx, `SELECT FROM payroll_staging WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`, b.tenantID, b.id); err != nil {
			return fmt.Errorf("lock run: %w", err)
		}
		if _, err := tx.Exec(ctx, `UPDATE payroll_staging s SET batches_left = batches_left - 1, moved_at = clock_timestamp(),
				finished_at = CASE WHEN batches_left = 1 THEN clock_timestamp() END,
				state = CASE WHEN batches_left > 1 THEN 'in_progress'
					WHEN EXISTS (SELECT FROM payroll_staged_employee e WHERE e.tenant_id = $1 AND e.staging_id = $2 AND e.error_code <> '')
					 AND NOT EXISTS (SELECT FROM payroll_staged_employee e WHERE e.tenant_id = $1 AND e.staging_id = $2 AND e.error_code = '')
					THEN 'failed' ELSE 'success' END
			WHERE tenant_id = $1 AND id = $2`, b.tenantID, b.id); err != nil {
			return fmt.Errorf("note progress: %w", err)
		}
		return nil
	})
}

// noteFailure counts a failure of a batch. After maxFailures the batch ends, and the
// details name its employees.
func (w *Worker) noteFailure(ctx context.Context, tenantID int64, id uuid.UUID, batch int32) (gaveUp bool, err error) {
	var attempts int
	err = work.InTx(ctx, w.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		return tx.QueryRow(ctx, `UPDATE payroll_staging_batch SET attempts = attempts + 1
			WHERE tenant_id = $1 AND staging_id = $2 AND batch = $3 RETURNING attempts`, tenantID, id, batch).Scan(&attempts)
	})
	if err != nil || attempts < maxFailures {
		return false, err
	}
	b := &stagedBatch{tenantID: tenantID, id: id, batch: batch}
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

// insertStaged stores the rows of a batch, and takes the earnings of its employees.
func insertStaged(ctx context.Context, tx pgx.Tx, b *stagedBatch, staged []stagingEmployee) error {
	ids := make([]int64, len(staged))
	for i, e := range staged {
		ids[i] = e.ID
	}
	earned, err := takeEarnings(ctx, tx, b, ids)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, e := range staged {
		batch.Queue(`INSERT INTO payroll_staged_employee (tenant_id, staging_id, employee_id, person_number, full_name, error_code, message, custom_fields)
			VALUES ($1, $2, $3, $4, $5, '', '', $6)`, b.tenantID, b.id, e.ID, e.Number, e.FullName, e.fields)
	}
	var rows stagedRows
	for _, e := range staged {
		at := int32(0)
		for _, t := range e.totals {
			at++
			rows.add(e.ID, at, t, "")
		}
		for _, t := range earned[e.ID] {
			at++
			rows.add(e.ID, at, t.Total, t.hours)
		}
	}
	rows.queue(batch, b)
	if batch.Len() == 0 {
		return nil
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("store staged rows: %w", err)
	}
	return nil
}

// earned is an imported earning.
type earned struct {
	Total
	hours string
}

// takeEarnings takes the open earnings of employees that the run stages into payroll.
func takeEarnings(ctx context.Context, tx pgx.Tx, b *stagedBatch, ids []int64) (map[int64][]earned, error) {
	rows, err := tx.Query(ctx, `SELECT e.ref_id, e.employee_id, e.charge_date, coalesce(p.id, 0), e.code, e.job, coalesce(e.hours::text, ''), coalesce(e.amount::text, '')
		FROM payroll_earning e LEFT JOIN pay_code p ON p.tenant_id = e.tenant_id AND lower(p.name) = lower(e.code)
		WHERE e.tenant_id = $1 AND e.employee_id = ANY($2) AND e.charge_date BETWEEN $3 AND $4 AND e.staging_id IS NULL
		ORDER BY e.employee_id, e.charge_date, e.ref_id FOR UPDATE OF e`, b.tenantID, ids, b.rules.days.From, b.rules.days.To)
	if err != nil {
		return nil, fmt.Errorf("read earnings: %w", err)
	}
	out := map[int64][]earned{}
	var taken []uuid.UUID
	var ref uuid.UUID
	var employee int64
	e := earned{Total: Total{Kind: Earning}}
	_, err = pgx.ForEachRow(rows, []any{&ref, &employee, &e.Date, &e.PayCodeID, &e.PayCode, &e.Job, &e.hours, &e.Money}, func() error {
		if b.rules.stages(e.Total) {
			out[employee] = append(out[employee], e)
			taken = append(taken, ref)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read earnings: %w", err)
	}
	if len(taken) == 0 {
		return out, nil
	}
	if _, err := tx.Exec(ctx, `UPDATE payroll_earning SET staging_id = $2 WHERE tenant_id = $1 AND ref_id = ANY($3)`, b.tenantID, b.id, taken); err != nil {
		return nil, fmt.Errorf("take earnings: %w", err)
	}
	return out, nil
}

// stagedRows are the columns of rows.
type stagedRows struct {
	employees           []int64
	numbers             []int32
	dates               []civil.Date
	codes, jobs, kinds  []string
	historical          []*civil.Date
	seconds             []int64
	hours, days, moneys []string
}

func (r *stagedRows) add(employee int64, number int32, t Total, hours string) {
	r.employees, r.numbers, r.dates = append(r.employees, employee), append(r.numbers, number), append(r.dates, t.Date)
	r.codes, r.jobs, r.kinds = append(r.codes, t.PayCode), append(r.jobs, t.Job), append(r.kinds, string(t.Kind))
	r.historical, r.seconds = append(r.historical, t.Historical), append(r.seconds, t.Seconds)
	r.hours, r.days, r.moneys = append(r.hours, hours), append(r.days, t.Days), append(r.moneys, t.Money)
}

func (r *stagedRows) queue(batch *pgx.Batch, b *stagedBatch) {
	if len(r.employees) == 0 {
		return
	}
	batch.Queue(`INSERT INTO payroll_staged_row (tenant_id, staging_id, employee_id, row_number, apply_date, pay_code, job, kind, historical_date, seconds, hours, days, money)
		SELECT $1, $2, e, n, d, c, j, k, h, s, nullif(o, '')::numeric, nullif(y, '')::numeric, nullif(m, '')::numeric
		FROM unnest($3::bigint[], $4::int[], $5::date[], $6::text[], $7::text[], $8::text[], $9::date[], $10::bigint[], $11::text[], $12::text[], $13::text[])
			AS t (e, n, d, c, j, k, h, s, o, y, m)`,
		b.tenantID, b.id, r.employees, r.numbers, r.dates, r.codes, r.jobs, r.kinds, r.historical, r.seconds, r.hours, r.days, r.moneys)
}

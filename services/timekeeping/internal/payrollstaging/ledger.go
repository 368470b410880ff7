package payrollstaging

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/payledger"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/orgjob"
)

// lookBack is the number of days before a run that are compared with the ledger while they are
// open. Signed-off days are compared when they change, regardless of their age.
const lookBack = 366

// paidKey is the key of the ledger. It identifies a pay code by its id, or by its name if it has no
// id.
type paidKey struct {
	day       civil.Date
	payCodeID int64
	payCode   string
	job       string
}

func newPaidKey(day civil.Date, t Total) paidKey {
	k := paidKey{day: day, payCodeID: t.PayCodeID, job: t.Job}
	if k.payCodeID == 0 {
		k.payCode = t.PayCode
	}
	return k
}

// coverage holds days of an employee that an earlier run staged.
type coverage struct {
	days  civil.Range
	rules *rules
}

// covers reports whether an earlier run staged a pay code on a day.
func (b *book) covers(day civil.Date, t Total) bool {
	t = b.rename(t)
	return slices.ContainsFunc(b.covered, func(c coverage) bool { return c.days.Contains(day) && c.rules.admits(t) })
}

// book is the ledger of one employee, with the corrections of signed-off days.
type book struct {
	payledger.Head
	covered []coverage
	// paid are the sums that earlier runs staged.
	paid map[paidKey]amount.Quantity
	// names are the names of the pay codes in paid.
	names map[paidKey]string
	// present are the current names of pay codes, by id. Signed-off days and earlier runs keep
	// older names.
	present map[int64]string
	// corrections are the corrections on the timecard of the days that are compared.
	corrections []Total
	// others are the days before the run whose totals are compared with the ledger.
	others []civil.Range
	// corrected are further days. Only their corrections are compared, because no run staged the
	// days themselves.
	corrected []civil.Date
}

// rename returns a total under the current name of its pay code.
func (b *book) rename(t Total) Total {
	if name, ok := b.present[t.PayCodeID]; ok {
		t.PayCode = name
	}
	return t
}

// findOthers returns the days before a run whose totals it compares with the ledger: days that an
// earlier run staged, and that are open or have changed since then.
func (b *book) findOthers(days civil.Range) []civil.Range {
	var all []civil.Range
	for _, c := range b.covered {
		before := civil.Range{From: c.days.From, To: min(c.days.To, days.From)}
		open := civil.Range{From: max(b.Open, days.From.AddDays(-lookBack)), To: days.From}
		for _, part := range []civil.Range{before.Intersect(b.Changed), before.Intersect(open)} {
			if !part.Empty() {
				all = append(all, part)
			}
		}
	}
	slices.SortFunc(all, func(x, y civil.Range) int { return cmp.Compare(x.From, y.From) })
	var out []civil.Range
	for _, r := range all {
		if n := len(out); n > 0 && r.From <= out[n-1].To && int(r.To-out[n-1].From) <= maxDays {
			out[n-1].To = max(out[n-1].To, r.To)
			continue
		} else if n > 0 {
			r.From = max(r.From, out[n-1].To)
		}
		for ; !r.Empty(); r.From += maxDays {
			out = append(out, civil.Range{From: r.From, To: min(r.To, r.From+maxDays)})
		}
	}
	return out
}

// readBooks returns the ledgers of the employees of a batch, by id.
func (w *Worker) readBooks(ctx context.Context, b *stagedBatch) (map[int64]*book, error) {
	heads, err := payledger.Read(ctx, w.deps.Pool, b.employees)
	if err != nil {
		return nil, err
	}
	present, err := w.readPayCodes(ctx)
	if err != nil {
		return nil, err
	}
	books := make(map[int64]*book, len(heads))
	for _, h := range heads {
		books[h.EmployeeID] = &book{Head: h, present: present, paid: map[paidKey]amount.Quantity{}, names: map[paidKey]string{}}
	}
	if err := w.readCoverage(ctx, b, books); err != nil {
		return nil, err
	}
	for _, one := range books {
		one.others = one.findOthers(b.rules.span())
	}
	if err := w.readCorrectedDays(ctx, b, books); err != nil {
		return nil, err
	}
	return books, w.readEntries(ctx, b, books)
}

// readPayCodes returns the names of pay codes, by id.
func (w *Worker) readPayCodes(ctx context.Context) (map[int64]string, error) {
	rows, err := w.deps.Pool.Query(ctx, `SELECT id, name FROM pay_code WHERE tenant_id = $1`, tenant.Of(ctx))
	if err != nil {
		return nil, fmt.Errorf("read pay codes: %w", err)
	}
	out := map[int64]string{}
	var id int64
	var name string
	if _, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error { out[id] = name; return nil }); err != nil {
		return nil, fmt.Errorf("read pay codes: %w", err)
	}
	return out, nil
}

// readCoverage reads the days that earlier runs staged, as far back as days are compared.
func (w *Worker) readCoverage(ctx context.Context, b *stagedBatch, books map[int64]*book) error {
	rows, err := w.deps.Pool.Query(ctx, `SELECT c.employee_id, s.id, s.start_date, c.covered_through
		FROM payroll_staged_employee c JOIN payroll_staging s ON s.tenant_id = c.tenant_id AND s.id = c.staging_id
		LEFT JOIN payroll_ledger_head h ON h.tenant_id = c.tenant_id AND h.employee_id = c.employee_id
		WHERE c.tenant_id = $1 AND c.employee_id = ANY($2) AND c.covered_through >= least($3::date, h.changed_from)`,
		tenant.Of(ctx), b.employees, b.rules.days.From.AddDays(-lookBack))
	if err != nil {
		return fmt.Errorf("read what earlier runs staged: %w", err)
	}
	runs := map[uuid.UUID]*rules{}
	var employee int64
	var run uuid.UUID
	var days civil.Range
	if _, err := pgx.ForEachRow(rows, []any{&employee, &run, &days.From, &days.To}, func() error {
		if runs[run] == nil {
			runs[run] = &rules{}
		}
		books[employee].covered = append(books[employee].covered, coverage{days: civil.Through(days.From, days.To), rules: runs[run]})
		return nil
	}); err != nil {
		return fmt.Errorf("read what earlier runs staged: %w", err)
	}
	return w.readRules(ctx, runs)
}

// readRules sets the rules of runs.
func (w *Worker) readRules(ctx context.Context, runs map[uuid.UUID]*rules) error {
	if len(runs) == 0 {
		return nil
	}
	ids := make([]uuid.UUID, 0, len(runs))
	for id := range runs {
		ids = append(ids, id)
	}
	rows, err := w.deps.Pool.Query(ctx, `SELECT id, body FROM payroll_staging WHERE tenant_id = $1 AND id = ANY($2)`, tenant.Of(ctx), ids)
	if err != nil {
		return fmt.Errorf("read earlier runs: %w", err)
	}
	var id uuid.UUID
	var body []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &body}, func() error {
		req := &timekeepingv1.PayrollStagingRequest{}
		if err := proto.Unmarshal(body, req); err != nil {
			return err
		}
		r, err := parse(req)
		*runs[id] = r
		return err
	})
	if err != nil {
		return fmt.Errorf("read earlier runs: %w", err)
	}
	return nil
}

// readCorrectedDays reads the further days that have corrections which apply on the days of the
// run.
func (w *Worker) readCorrectedDays(ctx context.Context, b *stagedBatch, books map[int64]*book) error {
	span := b.rules.span()
	rows, err := w.deps.Pool.Query(ctx, `SELECT DISTINCT employee_id, historical_date FROM historical_correction
		WHERE tenant_id = $1 AND employee_id = ANY($2) AND apply_date >= $3 AND apply_date < $4`, tenant.Of(ctx), b.employees, span.From, span.To)
	if err != nil {
		return fmt.Errorf("read corrections: %w", err)
	}
	var employee int64
	var day civil.Date
	if _, err := pgx.ForEachRow(rows, []any{&employee, &day}, func() error {
		one := books[employee]
		if !span.Contains(day) && !slices.ContainsFunc(one.others, func(r civil.Range) bool { return r.Contains(day) }) {
			one.corrected = append(one.corrected, day)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("read corrections: %w", err)
	}
	return nil
}

const (
	readPaid = `
SELECT e.id, r.paid_day, r.paid_day, r.pay_code_id, r.pay_code, r.job,
       sum(r.seconds)::bigint, (sum(coalesce(r.days, 0)) * 10000)::bigint, (sum(coalesce(r.money, 0)) * 10000)::bigint
FROM unnest($2::bigint[], $3::date[], $4::date[]) AS e (id, first, next) CROSS JOIN LATERAL (
    SELECT * FROM payroll_staged_row WHERE tenant_id = $1 AND employee_id = e.id AND kind <> 'EARNING'
       AND paid_day >= e.first AND paid_day < e.next OFFSET 0
) AS r GROUP BY 1, 2, 3, 4, 5, 6`

	readCorrections = `
SELECT e.id, c.historical_date, c.apply_date, c.pay_code_id, c.pay_code, c.job, sum(c.seconds)::bigint, sum(c.days)::bigint, sum(c.money)::bigint
FROM unnest($2::bigint[], $3::date[], $4::date[]) AS e (id, first, next) CROSS JOIN LATERAL (
    SELECT * FROM historical_correction WHERE tenant_id = $1 AND employee_id = e.id
       AND historical_date >= e.first AND historical_date < e.next OFFSET 0
) AS c GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3`
)

// readEntries reads the rows that earlier runs staged for the compared days, and the corrections of
// these days.
func (w *Worker) readEntries(ctx context.Context, b *stagedBatch, books map[int64]*book) error {
	var employees []int64
	var from, to []civil.Date
	for _, id := range b.employees {
		compared := append([]civil.Range{b.rules.span()}, books[id].others...)
		for _, day := range books[id].corrected {
			compared = append(compared, civil.Through(day, day))
		}
		for _, r := range compared {
			employees, from, to = append(employees, id), append(from, r.From), append(to, r.To)
		}
	}
	for sql, add := range map[string]func(*book, Total, amount.Quantity){
		readPaid: func(one *book, t Total, q amount.Quantity) {
			key := newPaidKey(t.Date, t)
			one.paid[key], one.names[key] = one.paid[key].Add(q), t.PayCode
		},
		readCorrections: func(one *book, t Total, q amount.Quantity) {
			t.Job = jobName(orgjob.Ref(t.Job))
			one.corrections = append(one.corrections, t.withQuantity(q))
		},
	} {
		rows, err := w.deps.Pool.Query(ctx, sql, tenant.Of(ctx), employees, from, to)
		if err != nil {
			return fmt.Errorf("read the ledger of payroll: %w", err)
		}
		var employee int64
		var day, apply civil.Date
		var t Total
		var q amount.Quantity
		if _, err = pgx.ForEachRow(rows, []any{&employee, &day, &apply, &t.PayCodeID, &t.PayCode, &t.Job, &q.Seconds, (*int64)(&q.Days), (*int64)(&q.Money)}, func() error {
			historical := day
			t.Date, t.Historical, t.Kind = apply, &historical, Correction
			add(books[employee], t, q)
			return nil
		}); err != nil {
			return fmt.Errorf("read the ledger of payroll: %w", err)
		}
	}
	return nil
}

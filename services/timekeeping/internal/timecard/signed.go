package timecard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/jobname"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/paysetup"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// correction is what a change of a day that is signed off adds to a later one.
type correction struct {
	id         int64
	historical civil.Date
	apply      civil.Date
	payCode    worktime.PayCode
	job        string
	amount.Quantity
}

const (
	// Days before those that are read count towards the week.
	readSigned = `
SELECT s.employee_id, s.day, s.worked, s.week, CASE WHEN s.day >= $5 THEN s.body END
FROM unnest($2::bigint[]) AS e (id) CROSS JOIN LATERAL (
    SELECT * FROM signed_day WHERE tenant_id = $1 AND employee_id = e.id AND day >= $3 AND day < $4 OFFSET 0
) AS s`

	readCorrections = `
SELECT c.employee_id, c.id, c.historical_date, c.apply_date, c.pay_code_id, c.pay_code, c.job, c.seconds, c.days, c.money
FROM unnest($2::bigint[]) AS e (id) CROSS JOIN LATERAL (
    SELECT * FROM historical_correction WHERE tenant_id = $1 AND employee_id = e.id AND apply_date >= $3 AND apply_date < $4 OFFSET 0
) AS c ORDER BY c.employee_id, c.id`

	insertCorrections = `
INSERT INTO historical_correction (tenant_id, employee_id, historical_date, apply_date, pay_code_id, pay_code, job, seconds, days, money)
SELECT $1, $2, q.day, $3, q.code_id, q.code, q.job, q.seconds, q.days, q.money
FROM unnest($4::date[], $5::bigint[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[]) AS q (day, code_id, code, job, seconds, days, money)`

	// A day without anything on it has no row from its sign-off, and is still shown
	// without anything: its body is empty.
	addWorked = `
INSERT INTO signed_day (tenant_id, employee_id, day, worked, week, body)
SELECT $1, $2, q.day, q.worked, q.week, '' FROM unnest($3::date[], $4::bigint[], $5::bigint[]) AS q (day, worked, week)
ON CONFLICT (tenant_id, employee_id, day) DO UPDATE SET worked = signed_day.worked + excluded.worked, week = signed_day.week + excluded.week`
)

func scanSigned(rows pgx.Rows, found map[int64]*employee) error {
	for rows.Next() {
		var id int64
		var day civil.Date
		var worked worktime.Worked
		var body []byte
		if err := rows.Scan(&id, &day, &worked.All, &worked.Week, &body); err != nil {
			return err
		}
		e := found[id]
		if e.before == nil {
			e.before, e.signed = map[civil.Date]worktime.Worked{}, map[civil.Date]*timekeepingv1.TimecardDay{}
		}
		e.before[day] = worked
		if len(body) == 0 {
			continue
		}
		e.signed[day] = &timekeepingv1.TimecardDay{}
		if err := proto.Unmarshal(body, e.signed[day]); err != nil {
			return err
		}
	}
	return rows.Err()
}

func scanCorrections(rows pgx.Rows, found map[int64]*employee) error {
	for rows.Next() {
		var id int64
		c := &correction{}
		err := rows.Scan(&id, &c.id, &c.historical, &c.apply, &c.payCode.ID, &c.payCode.Name, &c.job, &c.Seconds, (*int64)(&c.Days), (*int64)(&c.Money))
		if err != nil {
			return err
		}
		found[id].corrections = append(found[id].corrections, c)
	}
	return rows.Err()
}

// signoff is up to where the timecard of an employee is signed off.
type signoff struct {
	through  civil.Date
	openFrom time.Time
}

func (s signoff) equal(o signoff) bool { return s.through == o.through && s.openFrom.Equal(o.openFrom) }

const readSignoffs = `
SELECT DISTINCT ON (employee_id) employee_id, through, open_from FROM timecard_signoff
WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id, through DESC`

func signoffs(ctx context.Context, db pg.Querier, tenantID int64, ids []int64) (map[int64]signoff, error) {
	rows, err := db.Query(ctx, readSignoffs, tenantID, ids)
	if err != nil {
		return nil, fmt.Errorf("read sign-offs: %w", err)
	}
	out := map[int64]signoff{}
	var id int64
	var s signoff
	_, err = pgx.ForEachRow(rows, []any{&id, &s.through, &s.openFrom}, func() error {
		out[id] = s
		return nil
	})
	return out, err
}

// changedDays are the days of employees that a change may concern.
type changedDays map[int64]map[civil.Date]bool

func (t changedDays) add(employeeID int64, day civil.Date) {
	if t[employeeID] == nil {
		t[employeeID] = map[civil.Date]bool{}
	}
	t[employeeID][day] = true
}

// holds says whether all days of another change are among these.
func (t changedDays) holds(other changedDays) bool {
	for id, days := range other {
		for day := range days {
			if !t[id][day] {
				return false
			}
		}
	}
	return true
}

// inSigned returns what a change may concern of the days that are signed off: a shift
// from the day before, and the overtime of the week. Days that lie close together are
// one range, of at most maxRange days.
func (t changedDays) inSigned(signed map[int64]signoff) []*known {
	var out []*known
	for _, id := range slices.Sorted(maps.Keys(t)) {
		s, ok := signed[id]
		if !ok {
			continue
		}
		next := s.through + 1
		var last *known
		for _, day := range slices.Sorted(maps.Keys(t[id])) {
			days := civil.Range{From: day - 1, To: min(day+8, next)}
			if last != nil {
				days.From = max(days.From, last.days.To)
			}
			switch {
			case days.Empty():
			case last != nil && int(days.To-last.days.From) <= maxRange:
				last.days.To = days.To
			default:
				last = &known{id: id, days: days}
				out = append(out, last)
			}
		}
	}
	return out
}

// errSignedMeanwhile says that a timecard was signed off, or opened, while a change of it
// was prepared.
var errSignedMeanwhile = fault.Conflict(fault.CodeStale, "The timecard was signed off or opened meanwhile. Try again.")

// tries is how often a change is prepared anew when a timecard is signed off meanwhile.
const tries = 3

// change runs a change of timecards, which is handed a transaction in which they are
// locked. What it changes on days that are signed off is written down as corrections
// of the first day that is not.
func (r *Reader) change(ctx context.Context, tenantID int64, days changedDays, fn func(context.Context, pgx.Tx) error) error {
	var err error
	for range tries {
		if err = r.tryChange(ctx, tenantID, days, fn); !errors.Is(err, errSignedMeanwhile) {
			return err
		}
	}
	return err
}

func (r *Reader) tryChange(ctx context.Context, tenantID int64, days changedDays, fn func(context.Context, pgx.Tx) error) error {
	ids := slices.Sorted(maps.Keys(days))
	before, err := signoffs(ctx, r.pool, tenantID, ids)
	if err != nil {
		return err
	}
	all := days.inSigned(before)
	if err := r.readInGroups(ctx, all); err != nil {
		return err
	}
	return r.inLock(ctx, tenantID, ids, func(ctx context.Context, tx pgx.Tx) error {
		now, err := signoffs(ctx, tx, tenantID, ids)
		if err != nil {
			return err
		}
		if !maps.EqualFunc(before, now, signoff.equal) {
			return errSignedMeanwhile
		}
		old := make([]*card, len(all))
		for i, k := range all {
			if old[i], err = r.historical(ctx, tx, tenantID, k); err != nil {
				return err
			}
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		if err := unapprove(ctx, tx, tenantID, days); err != nil {
			return err
		}
		for i, k := range all {
			if err := r.moveEnd(ctx, tx, tenantID, k, now[k.id]); err != nil {
				return err
			}
			changed, err := r.historical(ctx, tx, tenantID, k)
			if err != nil {
				return err
			}
			if err := correct(ctx, tx, tenantID, k.id, now[k.id].through+1, old[i].quantities(), changed.quantities()); err != nil {
				return err
			}
			if err := changed.countSince(ctx, tx, tenantID, old[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// moveEnd finds out anew which punches belong to the signed days, when the last one of
// them is concerned: a punch may come late that ends a shift of the last night, or
// begins one.
func (r *Reader) moveEnd(ctx context.Context, tx pgx.Tx, tenantID int64, k *known, s signoff) error {
	if k.days.To <= s.through {
		return nil
	}
	cards, err := r.readIn(ctx, tx, tenantID, []int64{k.id}, window{days: civil.Through(s.through, s.through), signed: true, across: true}, k.of)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE timecard_signoff SET open_from = $4 WHERE tenant_id = $1 AND employee_id = $2 AND through = $3`,
		tenantID, k.id, s.through, time.Unix(cards[0].openFrom(), 0)); err != nil {
		return fmt.Errorf("move the end of a sign-off: %w", err)
	}
	return nil
}

// historical calculates signed days as if they were open.
func (r *Reader) historical(ctx context.Context, tx pgx.Tx, tenantID int64, k *known) (*card, error) {
	cards, err := r.readIn(ctx, tx, tenantID, []int64{k.id}, window{days: k.days, signed: true}, k.of)
	if err != nil {
		return nil, err
	}
	return cards[0], nil
}

// countSince adds what is worked on signed days since an older calculation of them to
// what counts towards the overtime of the open days of their week.
func (c *card) countSince(ctx context.Context, tx pgx.Tx, tenantID int64, old *card) error {
	var days []civil.Date
	var worked, week []int64
	for day := c.days.From; day < c.days.To; day++ {
		now, then := c.result.Days[day], old.result.Days[day]
		if now == then {
			continue
		}
		days, worked, week = append(days, day), append(worked, now.All-then.All), append(week, now.Week-then.Week)
	}
	if len(days) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, addWorked, tenantID, c.id, days, worked, week); err != nil {
		return fmt.Errorf("store what was worked on signed days: %w", err)
	}
	return nil
}

// known is what commons said of an employee on some days.
type known struct {
	id   int64
	days civil.Range
	of   map[int64]*commonsv1.EmployeeDays
}

// maxDaysPerCall is how many days one question to commons covers at most, where the days
// of the employees are not the same.
const maxDaysPerCall = 62

// readInGroups asks commons for what it knows: once for employees whose days lie close
// together, as those of one import do.
func (r *Reader) readInGroups(ctx context.Context, all []*known) error {
	left := slices.SortedFunc(slices.Values(all), func(a, b *known) int {
		return cmp.Or(cmp.Compare(a.days.From, b.days.From), cmp.Compare(a.days.To, b.days.To))
	})
	for len(left) > 0 {
		days, n := left[0].days, 1
		for ; n < min(len(left), maxEmployees); n++ {
			to := max(days.To, left[n].days.To)
			if to > days.To && int(to-days.From) > maxDaysPerCall {
				break
			}
			days.To = to
		}
		ids := make([]int64, n)
		for i, k := range left[:n] {
			ids[i] = k.id
		}
		slices.Sort(ids)
		of, err := r.ask(ctx, slices.Compact(ids), days, false)
		if err != nil {
			return err
		}
		for _, k := range left[:n] {
			k.of = of
		}
		left = left[n:]
	}
	return nil
}

// correct writes down by how much the totals of days changed.
func correct(ctx context.Context, tx pgx.Tx, tenantID, employeeID int64, apply civil.Date, before, after map[totalKey]amount.Quantity) error {
	diff := map[worktime.Key]amount.Quantity{}
	for key, w := range after {
		diff[key.Key] = diff[key.Key].Add(w)
	}
	for key, w := range before {
		diff[key.Key] = diff[key.Key].Sub(w)
	}
	var days []civil.Date
	var codes, seconds, inDays, money []int64
	var names, jobs []string
	for key, w := range diff {
		if w == (amount.Quantity{}) {
			continue
		}
		days, codes, names, jobs = append(days, key.Day), append(codes, key.PayCode.ID), append(names, key.PayCode.Name), append(jobs, key.Job)
		seconds, inDays, money = append(seconds, w.Seconds), append(inDays, int64(w.Days)), append(money, int64(w.Money))
	}
	if len(days) == 0 {
		return nil
	}
	if _, err := tx.Exec(ctx, insertCorrections, tenantID, employeeID, apply, days, codes, names, jobs, seconds, inDays, money); err != nil {
		return fmt.Errorf("store historical corrections: %w", err)
	}
	return nil
}

// toProto returns a correction as callers see it.
func (k *correction) toProto(c *card) *timekeepingv1.HistoricalCorrection {
	out := &timekeepingv1.HistoricalCorrection{
		Id: &k.id, Employee: c.ref(), Paycode: paysetup.Ref(k.payCode), OrgJob: jobname.Ref(k.job), HistoricalDate: k.historical.String(), ApplyDate: k.apply.String(),
	}
	out.AmountType, out.DurationInHours, out.DurationInDays, out.MoneyAmount = k.Shown()
	return out
}

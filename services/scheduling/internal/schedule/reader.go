package schedule

import (
	"context"
	"net/http"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

const (
	// mostEmployeeDays bounds one reading: employees multiplied by days.
	mostEmployeeDays = 56_000
	// mostOpenShifts bounds the open shifts of one reading.
	mostOpenShifts = 56_000
)

// Reader puts schedules together. It may be used from several goroutines.
type Reader struct {
	pool     *pgxpool.Pool
	patterns *patterns
	zones    civil.Zones
}

// NewReader returns a reader of the schedules in a database.
func NewReader(pool *pgxpool.Pool, source PatternSource) *Reader {
	return &Reader{pool: pool, patterns: newPatterns(source)}
}

// rows reads what is stored of the Schedule that is asked for, of the employees
// with the ids.
func (r *Reader) rows(ctx context.Context, tenantID int64, q *query, ids []int64, known bool) (rows, error) {
	w := want{tenantID: tenantID, days: q.days, known: known}
	if !q.onlyOpen() {
		w.employees = ids
	}
	w.leave = needs(q, kindShift) || needs(q, kindLeaveEdit)
	w.open = q.selected&selectOpen != 0
	w.holidays = !q.onlyOpen() && q.selected&(selectHolidays|selectDays) != 0
	return read(ctx, r.pool, w)
}

// fields returns the fields of the Schedule that is asked for, of the persons;
// rows are theirs.
func (r *Reader) fields(ctx context.Context, tenantID int64, q *query, persons []person, rows rows) ([]byte, error) {
	if len(rows.open) > mostOpenShifts {
		return nil, tooMany("open shifts", int64(len(rows.open)), mostOpenShifts)
	}
	patterns, err := r.patternsOf(ctx, tenantID, rows.spans, q.excludeBreaks)
	if err != nil {
		return nil, err
	}
	book, err := expand(q, persons, rows, patterns)
	if err != nil {
		return nil, err
	}
	if q.selected&(selectHolidays|selectDays) != 0 {
		if book.holidays, err = holidaysOf(ctx, rows.holidays); err != nil {
			return nil, err
		}
	}
	return writeAnswer(ctx, q, book)
}

// needs tells whether entries of a kind must be put together.
func needs(q *query, k kind) bool {
	part := [kinds]selection{
		kindShift:        selectShifts | selectDays,
		kindPayCodeEdit:  selectPayCodeEdits | selectDays,
		kindAvailability: selectAvailabilities,
		kindTag:          selectTags,
		kindLeaveEdit:    selectLeaveEdits,
	}[k]
	return q.selected&part != 0
}

// patternsOf returns the pattern of each span.
func (r *Reader) patternsOf(ctx context.Context, tenantID int64, spans []spanRow, mergeBreaks bool) ([]*compiled, error) {
	ids := make([]int64, len(spans))
	for i := range spans {
		ids[i] = spans[i].patternID
	}
	distinct := slices.Clone(ids)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	found, err := r.patterns.get(ctx, r.pool, tenantID, distinct, mergeBreaks)
	if err != nil {
		return nil, err
	}
	out := make([]*compiled, len(spans))
	for i, id := range ids {
		at, _ := slices.BinarySearch(distinct, id)
		out[i] = found[at]
	}
	return out, nil
}

// checkEmployeeDays refuses what is more than one reading may be.
func checkEmployeeDays(employees, days int) error {
	if actual := int64(employees) * int64(days); actual > mostEmployeeDays {
		return tooMany("employees * days", actual, mostEmployeeDays)
	}
	return nil
}

// tooMany is the error that the contract's limits give.
func tooMany(quantity string, actual, allowed int64) error {
	return fault.Newf(fault.CodeProductLimit, http.StatusRequestEntityTooLarge,
		"Service limits are exceeded: %s in the request: %d, allowed: %d. Split the request into several.",
		quantity, actual, allowed).WithLimits(actual, allowed)
}

package reading

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// EmployeeDays limits the employees multiplied by the days of one request.
var EmployeeDays = policy.FindLimit[*schedulingv1.ScheduleWhere]("employees * days")

// Reader reads schedules. It is safe for concurrent use.
type Reader struct {
	pool     *pg.Pool
	db       pg.Querier // reads the current state
	patterns *patternCache
	Zones    civil.Zones
}

// NewReader returns a reader of the schedules in a database.
func NewReader(pool *pg.Pool, source PatternSource) *Reader {
	return &Reader{pool: pool, db: pool, patterns: newPatternCache(source)}
}

// In returns a reader of the current state as a transaction sees it, including its own changes. The
// reader must not be used after the transaction.
func (r *Reader) In(tx pgx.Tx) *Reader {
	return &Reader{pool: r.pool, db: tx, patterns: r.patterns}
}

// Rows reads the stored rows that the query needs for the employees with the ids. details also
// reads the employees themselves.
func (r *Reader) Rows(ctx context.Context, q *request.Query, ids []int64, details bool) (storedrows.Rows, error) {
	w := storedrows.Filter{Days: q.Days, Details: details}
	if !q.OnlyOpen() {
		w.Employees = ids
	}
	w.Leave = needsKind(q, window.KindShift) || needsKind(q, window.KindLeaveEdit)
	w.Open = q.Selected&request.SelectOpen != 0
	w.Holidays = !q.OnlyOpen() && q.Selected&(request.SelectHolidays|request.SelectDays) != 0
	return storedrows.Read(ctx, r.db, w)
}

// Window builds the window of the persons from their rows.
func (r *Reader) Window(ctx context.Context, q *request.Query, persons []window.Person, rows storedrows.Rows) (*window.Window, error) {
	if err := storedrows.OpenShifts.Check(len(rows.Open)); err != nil {
		return nil, err
	}
	patterns, err := r.spanPatterns(ctx, rows.Spans, form{q.ExcludeBreaks, rows.Names})
	if err != nil {
		return nil, err
	}
	w, err := expand(q, persons, rows, patterns)
	if err != nil {
		return nil, err
	}
	if q.Selected&(request.SelectHolidays|request.SelectDays) != 0 {
		w.Holidays, err = decodeHolidays(ctx, rows.Holidays)
	}
	return w, err
}

// needsKind reports whether the query needs entries of a kind.
func needsKind(q *request.Query, k window.Kind) bool {
	part := [window.Kinds]request.Selection{
		window.KindShift:        request.SelectShifts | request.SelectDays | request.SelectJobs,
		window.KindPayCodeEdit:  request.SelectPayCodeEdits | request.SelectDays | request.SelectJobs,
		window.KindAvailability: request.SelectAvailabilities,
		window.KindTag:          request.SelectTags | request.SelectJobs,
		window.KindLeaveEdit:    request.SelectLeaveEdits,
	}[k]
	return q.Selected&part != 0
}

// spanPatterns returns the pattern of each span.
func (r *Reader) spanPatterns(ctx context.Context, spans []storedrows.Span, f form) ([]*window.Pattern, error) {
	ids := make([]int64, len(spans))
	for i := range spans {
		ids[i] = spans[i].PatternID
	}
	distinct := slices.Clone(ids)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	found, err := r.patterns.get(ctx, r.db, distinct, f)
	if err != nil {
		return nil, err
	}
	out := make([]*window.Pattern, len(spans))
	for i, id := range ids {
		at, _ := slices.BinarySearch(distinct, id)
		out[i] = found[at]
	}
	return out, nil
}

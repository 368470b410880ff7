package reading

import (
	"context"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

var (
	// MaxEmployeeDays limits the employees multiplied by the days of one request.
	MaxEmployeeDays = policy.Max[*schedulingv1.ScheduleWhere]("employees * days")
	// maxOpenShifts limits the open shifts of one request.
	maxOpenShifts = policy.Max[*schedulingv1.ScheduleWhere]("open shifts")
)

// Reader reads schedules. It is safe for concurrent use.
type Reader struct {
	pool     *pg.Pool
	patterns *patternCache
	Zones    civil.Zones
}

// NewReader returns a reader of the schedules in a database.
func NewReader(pool *pg.Pool, source PatternSource) *Reader {
	return &Reader{pool: pool, patterns: newPatternCache(source)}
}

// Rows reads the stored rows that the query needs for the employees with the ids. details also
// reads the employees themselves.
func (r *Reader) Rows(ctx context.Context, tenantID int64, q *request.Query, ids []int64, details bool) (Rows, error) {
	w := filter{tenantID: tenantID, days: q.Days, details: details}
	if !q.OnlyOpen() {
		w.employees = ids
	}
	w.leave = needsKind(q, encoding.KindShift) || needsKind(q, encoding.KindLeaveEdit)
	w.open = q.Selected&request.SelectOpen != 0
	w.holidays = !q.OnlyOpen() && q.Selected&(request.SelectHolidays|request.SelectDays) != 0
	return read(ctx, r.pool, w)
}

// ExpandJobs returns the fields of an ExpandedJobList with the jobs that entries refer to.
type ExpandJobs func(ctx context.Context, q *request.Query, jobs encoding.JobRefs) ([]byte, error)

// Fields returns the encoded fields of the Schedule that the query selects. The rows belong to the
// persons.
func (r *Reader) Fields(ctx context.Context, tenantID int64, q *request.Query, persons []encoding.Person, rows Rows, jobs ExpandJobs) ([]byte, error) {
	if len(rows.open) > maxOpenShifts {
		return nil, tooMany("open shifts", len(rows.open), maxOpenShifts)
	}
	patterns, err := r.spanPatterns(ctx, tenantID, rows.spans, q.ExcludeBreaks)
	if err != nil {
		return nil, err
	}
	window, err := expand(q, persons, rows, patterns)
	if err != nil {
		return nil, err
	}
	if q.Selected&(request.SelectHolidays|request.SelectDays) != 0 {
		if window.Holidays, err = decodeHolidays(ctx, rows.holidays); err != nil {
			return nil, err
		}
	}
	if q.Selected&request.SelectJobs != 0 {
		named, err := window.Jobs()
		if err != nil {
			return nil, err
		}
		if window.ExpandedJobs, err = jobs(ctx, q, named); err != nil {
			return nil, err
		}
	}
	return encoding.Encode(ctx, q, window)
}

// needsKind reports whether the query needs entries of a kind.
func needsKind(q *request.Query, k encoding.Kind) bool {
	part := [encoding.Kinds]request.Selection{
		encoding.KindShift:        request.SelectShifts | request.SelectDays | request.SelectJobs,
		encoding.KindPayCodeEdit:  request.SelectPayCodeEdits | request.SelectDays | request.SelectJobs,
		encoding.KindAvailability: request.SelectAvailabilities,
		encoding.KindTag:          request.SelectTags | request.SelectJobs,
		encoding.KindLeaveEdit:    request.SelectLeaveEdits,
	}[k]
	return q.Selected&part != 0
}

// spanPatterns returns the pattern of each span.
func (r *Reader) spanPatterns(ctx context.Context, tenantID int64, spans []spanRow, mergeBreaks bool) ([]*encoding.Pattern, error) {
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
	out := make([]*encoding.Pattern, len(spans))
	for i, id := range ids {
		at, _ := slices.BinarySearch(distinct, id)
		out[i] = found[at]
	}
	return out, nil
}

// CheckEmployeeDays returns an error if a request exceeds MaxEmployeeDays.
func CheckEmployeeDays(employees, days int) error {
	if actual := employees * days; actual > MaxEmployeeDays {
		return tooMany("employees * days", actual, MaxEmployeeDays)
	}
	return nil
}

// tooMany returns the error for an exceeded limit of the contract.
func tooMany(quantity string, actual, allowed int) error {
	return fault.OverLimit(fault.CodeProductLimit, quantity+" in the request", actual, allowed, fault.SplitRequest)
}

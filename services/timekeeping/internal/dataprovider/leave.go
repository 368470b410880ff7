package dataprovider

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavesetup"
)

// The data that elements of LEAVE may need.
const (
	needCases uint64 = 1 << iota
	needEdits
)

// leave is the loaded data of an employee: the cases that overlap the days, and their edits, both
// sorted by day.
type leave struct {
	cases []leaveCase
	edits []leaveEdit
}

type leaveCase struct {
	days civil.Range
	body *timekeepingv1.LeaveCase
}

type leaveEdit struct {
	day  civil.Date
	body *timekeepingv1.LeaveEdit
}

func newLeave(pool *pg.Pool) *dataelement.Table[leave] {
	return &dataelement.Table[leave]{
		Name: "LEAVE", Permission: "timekeeping.leave_case.read", Kind: datav1.RowKind_ROW_KIND_EMPLOYEE,
		MaxRowDays: maxEmployeeDays, Entries: leaveElements(),
		Load: func(ctx context.Context, ids []int64, days civil.Range, needs uint64) ([]*leave, error) {
			return loadLeave(ctx, pool, ids, days, needs)
		},
	}
}

const readCases = `
SELECT employee_id, from_date, to_date, body
FROM unnest($2::bigint[]) AS e (employee) CROSS JOIN LATERAL (
    SELECT * FROM leave_case WHERE tenant_id = $1 AND employee_id = e.employee AND from_date < $4 AND to_date > $3 OFFSET 0
) AS c ORDER BY employee_id, from_date, id`

const readEdits = `
SELECT employee_id, from_day, body
FROM unnest($2::bigint[]) AS e (employee) CROSS JOIN LATERAL (
    SELECT * FROM leave_edit WHERE tenant_id = $1 AND employee_id = e.employee AND from_day < $4 AND from_day >= $3 OFFSET 0
) AS l ORDER BY employee_id, from_day, id`

func loadLeave(ctx context.Context, pool *pg.Pool, ids []int64, days civil.Range, needs uint64) ([]*leave, error) {
	tenantID := tenant.Of(ctx)
	found := make(map[int64]*leave, len(ids))
	out := make([]*leave, len(ids))
	for i, id := range ids {
		if found[id] == nil {
			found[id] = &leave{}
		}
		out[i] = found[id]
	}
	ids = slices.Sorted(maps.Keys(found)) // Remove duplicates.
	var snapshot pg.Snapshot
	if needs&needCases != 0 {
		snapshot.Queue(func(rows pgx.Rows) error { return scanCases(rows, found) }, readCases, tenantID, ids, days.From, days.To)
	}
	if needs&needEdits != 0 {
		snapshot.Queue(func(rows pgx.Rows) error { return scanEdits(rows, found) }, readEdits, tenantID, ids, days.From, days.To)
	}
	if err := snapshot.Read(ctx, pool); err != nil {
		return nil, fmt.Errorf("read leave: %w", err)
	}
	return out, nil
}

func scanCases(rows pgx.Rows, found map[int64]*leave) error {
	for rows.Next() {
		var id int64
		var body []byte
		c := leaveCase{body: &timekeepingv1.LeaveCase{}}
		if err := rows.Scan(&id, &c.days.From, &c.days.To, &body); err != nil {
			return err
		}
		if err := proto.Unmarshal(body, c.body); err != nil {
			return err
		}
		found[id].cases = append(found[id].cases, c)
	}
	return rows.Err()
}

func scanEdits(rows pgx.Rows, found map[int64]*leave) error {
	for rows.Next() {
		var id int64
		var body []byte
		e := leaveEdit{body: &timekeepingv1.LeaveEdit{}}
		if err := rows.Scan(&id, &e.day, &body); err != nil {
			return err
		}
		if err := proto.Unmarshal(body, e.body); err != nil {
			return err
		}
		found[id].edits = append(found[id].edits, e)
	}
	return rows.Err()
}

func leaveElements() []dataelement.Entry[leave] {
	entry := func(key, label, doc string, kind dataelement.Type, needs uint64, of func(*leave, at) value) dataelement.Entry[leave] {
		return dataelement.Entry[leave]{Key: key, Label: label, Doc: doc, Type: kind, Categories: []string{"EMPLOYEE", "LEAVE"}, Series: true, Needs: needs, Value: of}
	}
	firstCase := func(key, label, doc string, kind dataelement.Type, of func(*leaveCase) value) dataelement.Entry[leave] {
		return entry(key, label, doc, kind, needCases, func(l *leave, at at) value {
			for i := range l.cases {
				if l.cases[i].days.Overlaps(at.Days) {
					return of(&l.cases[i])
				}
			}
			return value{}
		})
	}
	casesOf := func(key, label, doc string, fits func(*leaveCase) bool) dataelement.Entry[leave] {
		return entry(key, label, doc, dataelement.Long, needCases, func(l *leave, at at) value {
			var n int64
			for i := range l.cases {
				if l.cases[i].days.Overlaps(at.Days) && fits(&l.cases[i]) {
					n++
				}
			}
			return dataelement.Whole(n)
		})
	}
	hours := func(key, label, doc string, segment func(*timekeepingv1.LeaveEdit) *timekeepingv1.LeaveSegment) dataelement.Entry[leave] {
		return entry(key, label, doc, dataelement.Number, needEdits, func(l *leave, at at) value {
			var seconds int64
			for _, e := range l.editsOn(at.Days) {
				seconds += segment(e.body).GetAmountInSeconds()
			}
			return dataelement.Decimal(float64(seconds) / 3600)
		})
	}
	status := func(is int64) func(*leaveCase) bool {
		return func(c *leaveCase) bool { return c.body.GetStatus().GetId() == is }
	}
	return []dataelement.Entry[leave]{
		casesOf("LEAVE_CASE_COUNT", "Leave cases", "How many leave cases touch the period.", func(*leaveCase) bool { return true }),
		casesOf("LEAVE_SUBMITTED_CASE_COUNT", "Submitted leave cases", "How many of them are submitted.", status(leavesetup.StatusSubmitted)),
		casesOf("LEAVE_CLOSED_CASE_COUNT", "Closed leave cases", "How many of them are closed.", status(leavesetup.StatusClosed)),
		firstCase("LEAVE_CASE_CODE", "Leave case", "The code of the first leave case.", dataelement.String,
			func(c *leaveCase) value { return dataelement.Text(c.body.GetCaseCode()) }),
		firstCase("LEAVE_CASE_STATUS", "Leave case status", "The status of the first leave case.", dataelement.String,
			func(c *leaveCase) value { return dataelement.Text(c.body.GetStatus().GetName()) }),
		firstCase("LEAVE_CASE_CATEGORY", "Leave case category", "The category of the first leave case.", dataelement.String,
			func(c *leaveCase) value { return dataelement.Text(c.body.GetCategory().GetName()) }),
		firstCase("LEAVE_CASE_REASON", "Leave case reason", "The reason of the first leave case.", dataelement.String,
			func(c *leaveCase) value { return dataelement.Text(c.body.GetReason().GetName()) }),
		firstCase("LEAVE_CASE_FREQUENCY", "Leave case frequency", "How the leave of the first case is taken.", dataelement.String,
			func(c *leaveCase) value { return dataelement.Text(c.body.GetFrequency().GetName()) }),
		firstCase("LEAVE_CASE_APPROVAL_STATUS", "Leave case approval", "The approval of the first leave case.", dataelement.String,
			func(c *leaveCase) value { return dataelement.Text(c.body.GetApprovalStatus().GetName()) }),
		firstCase("LEAVE_CASE_START_DATE", "Leave case from", "The first day of the first leave case.", dataelement.Date,
			func(c *leaveCase) value { return dataelement.Day(c.days.From) }),
		firstCase("LEAVE_CASE_END_DATE", "Leave case through", "The last day of the first leave case, 3000-01-01 for one without end.", dataelement.Date,
			func(c *leaveCase) value { return dataelement.Day(dataelement.LastDay(c.days)) }),
		hours("LEAVE_PAID_HOURS", "Paid leave hours", "The paid hours of the leave edits that say how long they are.", (*timekeepingv1.LeaveEdit).GetPaidSegment),
		hours("LEAVE_TRACKING_HOURS", "Tracked leave hours", "The tracked hours of the leave edits that say how long they are.", (*timekeepingv1.LeaveEdit).GetTrackingSegment),
		entry("LEAVE_EDIT_COUNT", "Leave edits", "How many leave edits belong to the period.", dataelement.Long, needEdits,
			func(l *leave, at at) value { return dataelement.Whole(int64(len(l.editsOn(at.Days)))) }),
		entry("LEAVE_DAYS", "Leave days", "How many days of the period have leave.", dataelement.Long, needEdits, func(l *leave, at at) value {
			days := map[civil.Date]bool{}
			for _, e := range l.editsOn(at.Days) {
				days[e.day] = true
			}
			return dataelement.Whole(int64(len(days)))
		}),
		entry("LEAVE_FIRST_DATE", "First leave", "The first day of the period with leave.", dataelement.Date, needEdits, func(l *leave, at at) value {
			if list := l.editsOn(at.Days); len(list) > 0 {
				return dataelement.Day(list[0].day)
			}
			return value{}
		}),
		entry("LEAVE_LAST_DATE", "Last leave", "The last day of the period with leave.", dataelement.Date, needEdits, func(l *leave, at at) value {
			if list := l.editsOn(at.Days); len(list) > 0 {
				return dataelement.Day(list[len(list)-1].day)
			}
			return value{}
		}),
		entry("LEAVE_IS_ON_LEAVE", "On leave", "Whether there is leave in the period.", dataelement.Boolean, needEdits,
			func(l *leave, at at) value { return dataelement.Bool(len(l.editsOn(at.Days)) > 0) }),
	}
}

// editsOn returns the edits that belong to the days. The list is sorted by day, so the result is a part
// of it.
func (l *leave) editsOn(days civil.Range) []leaveEdit {
	first := 0
	for first < len(l.edits) && l.edits[first].day < days.From {
		first++
	}
	end := first
	for end < len(l.edits) && l.edits[end].day < days.To {
		end++
	}
	return l.edits[first:end]
}

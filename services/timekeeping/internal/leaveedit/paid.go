package leaveedit

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// maxPaid is the maximum number of edits that one read of timecards pays, counted over their cases:
// 500 employees have this many in twenty years of leave.
const maxPaid = 1_000_000

// Paid is the part of a leave edit that is paid under a pay code: an override segment, or time that
// is deducted from a leave type with a pay code.
type Paid struct {
	EmployeeID int64
	Day        civil.Date
	PayCode    *commonv1.Ref
	Seconds    int64
}

// PaidEdit is a leave edit that may be paid.
type PaidEdit struct {
	id, caseID, employeeID int64
	day                    civil.Date
	overrides              []*timekeepingv1.LeaveOverrideSegment
}

// ReadPaid is the SQL query for the leave edits of employees ($2) of a tenant ($1) that belong to
// days from one ($3) to before another ($4); see [ScanPaid].
const ReadPaid = `
SELECT l.id, l.leave_case_id, l.employee_id, l.from_day, l.body
FROM unnest($2::bigint[]) AS e (id) CROSS JOIN LATERAL (
    SELECT id, leave_case_id, employee_id, from_day, body FROM leave_edit
    WHERE tenant_id = $1 AND employee_id = e.id AND from_day >= $3 AND from_day < $4 OFFSET 0
) AS l ORDER BY l.employee_id, l.from_day, l.id`

// ScanPaid calls add for each edit that ReadPaid returns.
func ScanPaid(rows pgx.Rows, add func(PaidEdit)) error {
	for rows.Next() {
		var e PaidEdit
		var body []byte
		if err := rows.Scan(&e.id, &e.caseID, &e.employeeID, &e.day, &body); err != nil {
			return err
		}
		edit := &timekeepingv1.LeaveEdit{}
		if err := proto.Unmarshal(body, edit); err != nil {
			return err
		}
		e.overrides = edit.GetOverrideSegments()
		add(e)
	}
	return rows.Err()
}

// PaidTime returns the paid time of edits, in their order: first the override segments, then the
// deductions under the rules of their cases from leave types that are paid under a pay code.
func PaidTime(ctx context.Context, db pg.Querier, edits []PaidEdit) ([]Paid, error) {
	if len(edits) == 0 {
		return nil, nil
	}
	var cases []int64
	for _, e := range edits {
		cases = append(cases, e.caseID)
	}
	slices.Sort(cases)
	deductions, err := readDeductions(ctx, db, slices.Compact(cases), maxPaid)
	if err != nil {
		return nil, fmt.Errorf("read what leave is taken as: %w", err)
	}
	var out []Paid
	for _, e := range edits {
		for _, segment := range e.overrides {
			out = append(out, Paid{e.employeeID, e.day, segment.GetPayCode(), segment.GetAmountInSeconds()})
		}
		for _, t := range deductions[e.id] {
			if t.Type.GetPaid() && t.Type.GetPayCode() != nil && !t.Overridden {
				out = append(out, Paid{e.employeeID, e.day, t.Type.GetPayCode(), t.Seconds})
			}
		}
	}
	return out, nil
}

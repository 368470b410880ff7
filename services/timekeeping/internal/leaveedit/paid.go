package leaveedit

import (
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Paid is time of a leave edit that says what it is paid as.
type Paid struct {
	EmployeeID int64
	Day        civil.Date
	PayCode    *commonv1.Ref
	Seconds    int64
}

// ReadPaid is SQL for the leave edits of employees ($2) of a tenant ($1) that belong to
// days from one ($3) to before another ($4); see [ScanPaid].
const ReadPaid = `
SELECT l.employee_id, l.from_day, l.body
FROM unnest($2::bigint[]) AS e (id) CROSS JOIN LATERAL (
    SELECT id, employee_id, from_day, body FROM leave_edit WHERE tenant_id = $1 AND employee_id = e.id AND from_day >= $3 AND from_day < $4 OFFSET 0
) AS l ORDER BY l.employee_id, l.from_day, l.id`

// ScanPaid hands what ReadPaid reads to a function. Only override segments name a pay
// code: the paid and the tracking segment say how much is taken, not what it is paid as.
func ScanPaid(rows pgx.Rows, add func(Paid)) error {
	for rows.Next() {
		var p Paid
		var body []byte
		if err := rows.Scan(&p.EmployeeID, &p.Day, &body); err != nil {
			return err
		}
		edit := &timekeepingv1.LeaveEdit{}
		if err := proto.Unmarshal(body, edit); err != nil {
			return err
		}
		for _, segment := range edit.GetOverrideSegments() {
			p.PayCode, p.Seconds = segment.GetPayCode(), segment.GetAmountInSeconds()
			add(p)
		}
	}
	return rows.Err()
}

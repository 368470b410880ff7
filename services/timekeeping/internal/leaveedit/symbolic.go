package leaveedit

import (
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// resolve gives the segments of rows that take a whole day, or half of one, the seconds of it
// that are scheduled now. Where nothing is scheduled, they keep what they say: nothing, unless
// the caller gave an amount.
func resolve(rows []row, work map[employeeDay][]*schedulingv1.EmployeeShiftSegment) {
	for _, r := range rows {
		var worked int64
		for _, segment := range work[employeeDay{r.employeeID, r.first}] {
			worked += length(segment)
		}
		if worked == 0 {
			continue
		}
		for _, s := range []*timekeepingv1.LeaveSegment{r.body.GetPaidSegment(), r.body.GetTrackingSegment()} {
			switch s.GetSymbolicValue() {
			case fullDay:
				*s.AmountInSeconds = worked
			case halfDay:
				*s.AmountInSeconds = worked / 2
			}
		}
	}
}

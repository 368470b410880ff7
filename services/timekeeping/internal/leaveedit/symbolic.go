package leaveedit

import (
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// resolve sets the segments of rows that use a whole day or half a day to the seconds that are
// scheduled now. If nothing is scheduled, segments keep their stored amount: zero, unless the
// caller specified one.
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

package timecard

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

// MultiReadEmployeeTimecards returns the timecard of the caller. An employee in the request must be
// the caller.
func (h *Timecards) MultiReadEmployeeTimecards(ctx context.Context, req *timekeepingv1.MultiReadTimecardsRequest) (*timekeepingv1.TimecardList, error) {
	set, path, err := requestedSet(req.GetWhere())
	if err != nil {
		return nil, err
	}
	if set.GetHyperFind() != nil {
		return nil, timecardfault.Invalid("%s must not have hyperFind: the timecard is the caller's own", path)
	}
	options, err := parseOptions(req.GetMultiReadOptions())
	if err != nil {
		return nil, err
	}
	who, err := h.finder.Self(ctx)
	if err != nil {
		return nil, err
	}
	if list := set.GetEmployees(); list != nil {
		keys, err := requested.Keys(path+".employees", list)
		if err != nil {
			return nil, err
		}
		for _, key := range keys {
			if !keyMatches(key, who) {
				return nil, errNotOwn
			}
		}
	}
	days, err := h.finder.Days(ctx, requested.InRange(path+".dateRange", set.GetDateRange()).Own())
	if err != nil {
		return nil, err
	}
	timecards, err := h.timecards.Read(ctx, []int64{who.ID}, calculation.Window{Days: days, Bodies: true})
	if err != nil {
		return nil, err
	}
	out := show(timecards[0], selection(req.GetSelect()), options)
	return &timekeepingv1.TimecardList{Timecards: []*timekeepingv1.Timecard{out}}, inLanguage(ctx, out)
}

// UpdateEmployeeTimecard changes the timecard of the caller. An employee in the request must be the
// caller.
func (h *Timecards) UpdateEmployeeTimecard(ctx context.Context, req *timekeepingv1.UpdateTimecardRequest) (*timekeepingv1.Timecard, error) {
	who, err := h.finder.Self(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkOwn(req.GetWhere().GetEmployee(), who); err != nil {
		return nil, err
	}
	for _, list := range [][]*timekeepingv1.Punch{req.GetDo().GetPunches().GetAdded(), req.GetDo().GetPunches().GetUpdated()} {
		for _, p := range list {
			if err := checkOwn(p.GetEmployee(), who); err != nil {
				return nil, err
			}
		}
	}
	return h.updateTimecard(ctx, who, req, updateDates(req).Own(), func([]civil.Range) error { return nil })
}

// errNotOwn is the error if an operation on the caller's own timecard names another employee.
var errNotOwn = fault.Invalid(timecardfault.CodeOwn, "This operation is for your own timecard. Use the operations of timecard for other employees.")

func checkOwn(ref *commonv1.Ref, who person.Person) error {
	if ref == nil {
		return nil
	}
	if key, err := requested.PersonKey(ref); err != nil || !keyMatches(key, who) {
		return errNotOwn
	}
	return nil
}

func keyMatches(key person.Key, who person.Person) bool {
	return key == (person.Key{ID: who.ID}) || key == (person.Key{Number: who.Number})
}

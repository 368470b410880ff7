package patternassignment

import (
	"net/http"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// update is the block of an apply_update request.
type update struct {
	// ids are the assignments to change.
	ids []int64
	// refs are the owners if the block lists owners instead, and window has the days to remove.
	refs   []*commonv1.Ref
	window civil.Range
	// given is the assignment with the new pattern, and path is its path in the request. It is nil
	// if the block has no pattern.
	pattern *schedulingv1.GroupSchedulePattern
	path    string
	// apply returns the edit of one assignment. The replacement is parsed from pattern.
	apply func(a assignment, r *replacement) (edit, error)
}

// readUpdate parses the block of a request, and checks everything that needs no database.
func (k *Kind) readUpdate(body *schedulingv1.ApplyUpdateGroupSchedulePatterns) (*update, error) {
	if err := fault.OneOf(patterndefinition.CodeNothing, patterndefinition.CodeOnlyOne, "The request", k.blocks(),
		body.GetRecreate() != nil, body.GetUpdateAsOfDate() != nil, body.GetUpdateEndDate() != nil,
		body.GetRemove() != nil, body.GetRemoveByGroups() != nil); err != nil {
		return nil, err
	}
	switch {
	case body.GetRecreate() != nil:
		return k.readRecreate(body.GetRecreate())
	case body.GetUpdateAsOfDate() != nil:
		return k.readAsOfDate(body.GetUpdateAsOfDate())
	case body.GetUpdateEndDate() != nil:
		return k.readEndDate(body.GetUpdateEndDate())
	case body.GetRemove() != nil:
		return k.readRemove(body.GetRemove())
	default:
		return k.readRemoveByOwners(body.GetRemoveByGroups())
	}
}

// blocks lists the names of the blocks of an update.
func (k *Kind) blocks() string {
	return "recreate, updateAsOfDate, updateEndDate, remove" + k.lastBlocks
}

func (k *Kind) readRecreate(block *schedulingv1.RecreateGroupSchedulePatterns) (*update, error) {
	path := "recreate.do." + k.pattern
	u := &update{pattern: block.GetDo().GetGroupSchedulePattern(), path: path}
	u.apply = func(a assignment, r *replacement) (edit, error) { return k.recreate(path, a, r) }
	return u, u.readIDs(k, "recreate", block.GetWhere())
}

func (k *Kind) readAsOfDate(block *schedulingv1.UpdateGroupSchedulePatternsAsOfDate) (*update, error) {
	u := &update{pattern: block.GetDo().GetGroupSchedulePattern(), path: "updateAsOfDate.do." + k.pattern}
	date, err := requireDate("updateAsOfDate.do.date", block.GetDo().GetDate())
	u.apply = func(a assignment, r *replacement) (edit, error) {
		return k.replaceFrom("updateAsOfDate.do", a, date, r)
	}
	return u, fault.Join(err, u.readIDs(k, "updateAsOfDate", block.GetWhere()))
}

func (k *Kind) readEndDate(block *schedulingv1.UpdateGroupSchedulePatternsEndDate) (*update, error) {
	const path = "updateEndDate.do"
	to, err := parseEnd(path+".date", block.GetDo().GetDate())
	u := &update{apply: func(a assignment, _ *replacement) (edit, error) { return k.endOn(path, a, to) }}
	return u, fault.Join(err, u.readIDs(k, "updateEndDate", block.GetWhere()))
}

func (k *Kind) readRemove(block *schedulingv1.RemoveGroupSchedulePatterns) (*update, error) {
	days, err := k.removedDays("remove.do", block.GetDo())
	u := &update{apply: func(a assignment, _ *replacement) (edit, error) { return removeDays(a, days), nil }}
	return u, fault.Join(err, u.readIDs(k, "remove", block.GetWhere()))
}

func (k *Kind) readRemoveByOwners(block *schedulingv1.RemoveGroupSchedulePatternsByGroups) (*update, error) {
	path := k.removeByOwners + ".where." + k.refs
	days, err := k.removedDays(k.removeByOwners+".do", block.GetDo())
	refs := block.GetWhere().GetGroupRefs()
	if len(refs) == 0 || slices.ContainsFunc(refs, func(ref *commonv1.Ref) bool { return !patterndefinition.Named(ref) }) {
		err = fault.Join(err, patterndefinition.Missing(path))
	}
	return &update{refs: refs, window: days}, err
}

// readIDs reads the assignment ids of a block, and checks that a required pattern is present.
func (u *update) readIDs(k *Kind, block string, where *schedulingv1.GroupSchedulePatternIds) error {
	path := block + ".where." + k.pattern + "Ids"
	u.ids = where.GetGroupSchedulePatternIds()
	var errs []error
	if sorted := slices.Sorted(slices.Values(u.ids)); len(sorted) == 0 {
		errs = append(errs, patterndefinition.Missing(path))
	} else if len(slices.Compact(sorted)) != len(u.ids) {
		errs = append(errs, patterndefinition.Invalid(path, "must list each assignment once"))
	}
	switch {
	case u.path == "":
	case u.pattern == nil:
		errs = append(errs, patterndefinition.Missing(u.path))
	case u.pattern.GetSchedulePattern() == nil:
		errs = append(errs, patterndefinition.Missing(u.path+".schedulePattern"))
	}
	return fault.Join(errs...)
}

// removedDays parses a range of days, both inclusive. Without an end it has all days from the start
// on.
func (k *Kind) removedDays(path string, do *schedulingv1.RemovedDays) (civil.Range, error) {
	from, badStart := requireDate(path+".startDate", do.GetStartDate())
	to, badEnd := parseEnd(path+".endDate", do.GetEndDate())
	if badStart != nil || badEnd != nil {
		return civil.Range{}, fault.Join(badStart, badEnd)
	}
	if to <= from {
		return civil.Range{}, fault.New(k.codeEnd, http.StatusBadRequest, path+".endDate must not be before startDate.").WithMembers(path + ".endDate")
	}
	return civil.Range{From: from, To: to}, nil
}

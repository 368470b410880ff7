// Package employmenttermschedule shows the entries that the patterns of employment terms generate,
// and the employees on the terms. It computes the schedule of a hypothetical employee who is on the
// term and on no other.
package employmenttermschedule

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/employeesearch"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmentterm"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

var (
	// employeeDays and termDays limit the employees or terms of a request, multiplied by its days.
	employeeDays = policy.FindLimit[*schedulingv1.EmploymentTermScheduleWhere]("employees * days")
	termDays     = policy.FindLimit[*schedulingv1.EmploymentTermScheduleWhere]("employment terms * days")
	// entries limits the entries of a response, not counting terms.
	entries = policy.FindLimit[*schedulingv1.EmploymentTermScheduleWhere]("entries of employment terms")
)

// Terms finds employment terms, like [employmentterm.Lookup].
type Terms interface {
	Terms(ctx context.Context, refs []*commonv1.Ref) ([]employmentterm.Term, error)
}

// Directory finds employees, like [projection.Resolver].
type Directory interface {
	Employees(ctx context.Context, refs []*commonv1.Ref) ([]projection.Employee, error)
	Visible(ctx context.Context) (rowvisibility.Set, error)
}

// Deps are the dependencies of a Handler.
type Deps struct {
	Pool      *pg.Pool
	Reader    *reading.Reader
	Terms     Terms
	Directory Directory
	Commons   schedule.Commons
}

// Handler serves EmploymentTermScheduleService.
type Handler struct {
	schedulingv1.UnsafeEmploymentTermScheduleServiceServer

	deps Deps
}

var _ schedulingv1.EmploymentTermScheduleServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(deps Deps) *Handler { return &Handler{deps: deps} }

// selection has the selected parts of a response.
type selection struct{ groups, memberships, shifts, edits bool }

func parseSelect(names []string) (selection, error) {
	if len(names) == 0 {
		return selection{true, true, true, true}, nil
	}
	var s selection
	for i, name := range names {
		switch strings.ToUpper(name) {
		case "GROUPS":
			s.groups = true
		case "MEMBERSHIPS":
			s.memberships = true
		case "GROUPSHIFTS":
			s.shifts = true
		case "GROUPPAYCODEEDITS":
			s.edits = true
		default:
			return s, patterndefinition.Invalid(fmt.Sprintf("select[%d]", i), "must be one of GROUPS, MEMBERSHIPS, GROUPSHIFTS and GROUPPAYCODEEDITS")
		}
	}
	return s, nil
}

// MultiReadEmploymentTermSchedules returns the selected parts of the requested terms, or of the
// terms that the requested employees are on.
func (h *Handler) MultiReadEmploymentTermSchedules(ctx context.Context, req *schedulingv1.MultiReadEmploymentTermSchedulesRequest) (*schedulingv1.EmploymentTermSchedules, error) {
	selected, err := parseSelect(req.GetSelect())
	if err != nil {
		return nil, err
	}
	days, err := h.parseDays(ctx, req.GetWhere())
	if err != nil {
		return nil, err
	}
	visible, err := h.deps.Directory.Visible(ctx)
	if err != nil {
		return nil, err
	}
	terms, employees, err := h.requestedIDs(ctx, req.GetWhere(), days)
	if err != nil {
		return nil, err
	}
	found, err := read(ctx, h.deps.Pool, terms, employees, days, visible)
	if err != nil {
		return nil, err
	}
	return h.response(ctx, selected, found, days)
}

// parseDays parses the requested days, and checks that the request has exactly one criterion.
func (h *Handler) parseDays(ctx context.Context, where *schedulingv1.EmploymentTermScheduleWhere) (civil.Range, error) {
	if err := fault.OneOf(patterndefinition.CodeNothing, patterndefinition.CodeOnlyOne, "where", "groups, employees, hyperfind and locations",
		where.GetGroups() != nil, where.GetEmployees() != nil, where.GetHyperfind() != nil, where.GetLocations() != nil); err != nil {
		return civil.Range{}, err
	}
	var path string
	var requested *commonv1.DateRange
	var transfers bool
	for _, one := range []struct {
		path      string
		given     bool
		days      *commonv1.DateRange
		transfers bool
	}{
		{"groups", where.GetGroups() != nil, where.GetGroups().GetDateRange(), false},
		{"employees", where.GetEmployees() != nil, where.GetEmployees().GetDateRange(), false},
		{"hyperfind", where.GetHyperfind() != nil, where.GetHyperfind().GetDateRange(), where.GetHyperfind().GetIncludeEmployeeTransfer()},
		{"locations", where.GetLocations() != nil, where.GetLocations().GetDateRange(), where.GetLocations().GetIncludeEmployeeTransfer()},
	} {
		if one.given {
			path, requested, transfers = "where."+one.path, one.days, one.transfers
		}
	}
	if transfers {
		return civil.Range{}, patterndefinition.Invalid(path+".includeEmployeeTransfer", "must be false: a transfer of a shift does not change the employment term")
	}
	days, period, err := request.ParseRange(path, requested)
	if err == nil && period != nil {
		days, err = schedule.ReadPeriod(ctx, h.deps.Commons, period)
	}
	return days, err
}

// requestedIDs returns the ids of the requested terms or employees.
func (h *Handler) requestedIDs(ctx context.Context, where *schedulingv1.EmploymentTermScheduleWhere, days civil.Range) (terms, employees []int64, err error) {
	switch {
	case where.GetGroups() != nil:
		refs, err := requireRefs("where.groups.groups", where.GetGroups().GetGroups(), days, termDays)
		if err != nil {
			return nil, nil, err
		}
		found, err := h.deps.Terms.Terms(ctx, refs)
		terms = make([]int64, len(found))
		for i := range found {
			terms[i] = found[i].ID
		}
		return terms, nil, err
	case where.GetEmployees() != nil:
		refs, err := requireRefs("where.employees.employees", where.GetEmployees().GetEmployees(), days, employeeDays)
		if err != nil {
			return nil, nil, err
		}
		found, err := h.deps.Directory.Employees(ctx, refs)
		employees = make([]int64, len(found))
		for i := range found {
			employees[i] = found[i].ID
		}
		return nil, employees, err
	}
	var locations []*commonv1.Ref
	hyperfind := where.GetHyperfind().GetHyperfind()
	if where.GetLocations() != nil {
		if locations, err = requireRefs("where.locations.locations", where.GetLocations().GetLocations(), civil.Range{}, employeeDays); err != nil {
			return nil, nil, err
		}
	} else if !patterndefinition.Named(hyperfind) {
		return nil, nil, patterndefinition.Missing("where.hyperfind.hyperfind")
	}
	found, err := employeesearch.Find(ctx, h.deps.Commons, hyperfind, locations, days)
	if err != nil {
		return nil, nil, err
	}
	return nil, found.GetIds(), employeeDays.Check(len(found.GetIds()) * days.Days())
}

// requireRefs returns the references of a list, which must not be empty. For a symbolic period, the
// limit is checked later.
func requireRefs(path string, list *commonv1.RefList, days civil.Range, limit policy.Limit) ([]*commonv1.Ref, error) {
	refs := reflist.Refs(list)
	if len(refs) == 0 {
		return nil, patterndefinition.Missing(path)
	}
	if err := limit.Check(len(refs) * days.Days()); err != nil {
		return nil, err
	}
	return refs, nil
}

// byTerm compares terms by id.
func byTerm(a, b term) int { return cmp.Compare(a.id, b.id) }

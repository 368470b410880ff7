package employmenttermschedulepattern

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
)

// GetEmploymentTermSchedulePattern returns one assignment, or 404.
func (h *Handler) GetEmploymentTermSchedulePattern(ctx context.Context, req *schedulingv1.GetEmploymentTermSchedulePatternRequest) (*schedulingv1.GroupSchedulePattern, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	list, err := one(ctx, h.deps.Pool, tenantID, req.GetId())
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, patterndefinition.NotFound(what, req.GetId())
	}
	messages, err := h.messages(ctx, list)
	if err != nil {
		return nil, err
	}
	return messages[0], nil
}

// GetPatternBuilder returns the configuration that clients of the reference
// product ask for. Schedules have no horizon here that could be reached.
func (h *Handler) GetPatternBuilder(context.Context, *schedulingv1.GetPatternBuilderRequest) (*schedulingv1.PatternBuilder, error) {
	return &schedulingv1.PatternBuilder{GovernedDays: proto.Int32(h.governedDays)}, nil
}

// MultiReadEmploymentTermSchedulePatterns returns the assignments of terms,
// what they were, or both.
func (h *Handler) MultiReadEmploymentTermSchedulePatterns(ctx context.Context, req *schedulingv1.MultiReadGroupSchedulePatternsRequest) (*schedulingv1.MultiReadGroupSchedulePatternsResponse, error) {
	selected, err := readSelect(req.GetBody().GetSelect())
	if err != nil {
		return nil, err
	}
	groups := req.GetBody().GetWhere().GetGroups()
	if len(groups.GetGroupRefs()) == 0 {
		return nil, fault.New(patterndefinition.CodeNothing, http.StatusBadRequest, "where.groups.groupRefs needs at least one element.")
	}
	window, err := readWindow("where.groups", groups)
	if err != nil {
		return nil, err
	}
	terms, _, err := h.findTerms(ctx, groups.GetGroupRefs(), false)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(terms))
	for i, term := range terms {
		ids[i] = term.ID
	}
	var list []assignment
	answer := &schedulingv1.MultiReadGroupSchedulePatternsResponse{}
	err = pg.InSnapshot(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		tenantID, err := tenant.Of(ctx)
		if err != nil {
			return err
		}
		if selected.current {
			if list, err = current(ctx, tx, tenantID, ids, window); err != nil {
				return err
			}
		}
		if selected.history {
			answer.GroupSchedulePatternHistories = &schedulingv1.GroupSchedulePatternHistoryList{}
			answer.GroupSchedulePatternHistories.Histories, err = history(ctx, tx, tenantID, ids, window)
		}
		return err
	})
	if err != nil || !selected.current {
		return answer, err
	}
	// What a pattern is never changes.
	answer.GroupSchedulePatterns = &schedulingv1.GroupSchedulePatternList{}
	answer.GroupSchedulePatterns.GroupSchedulePatterns, err = h.messages(ctx, list)
	return answer, err
}

// messages are assignments as callers see them.
func (h *Handler) messages(ctx context.Context, list []assignment) ([]*schedulingv1.GroupSchedulePattern, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].patternID
	}
	patterns, err := h.deps.Definitions.Patterns(ctx, h.deps.Pool, tenantID, ids)
	if err != nil {
		return nil, err
	}
	messages := make([]*schedulingv1.GroupSchedulePattern, len(list))
	for i := range list {
		messages[i] = list[i].message(patterns[list[i].patternID])
	}
	return messages, nil
}

// selection says what a caller wants to see.
type selection struct{ current, history bool }

// readSelect reads the select of a request, in which case counts. Without one
// everything is selected.
func readSelect(names []string) (selection, error) {
	if len(names) == 0 {
		return selection{current: true, history: true}, nil
	}
	var s selection
	for i, name := range names {
		switch name {
		case "gsp":
			s.current = true
		case "history":
			s.history = true
		default:
			return selection{}, patterndefinition.Invalid(fmt.Sprintf("select[%d]", i), `must be "gsp" or "history", or select is left out for both`)
		}
	}
	return s, nil
}

// readWindow reads the days that a caller asks about, both ends included. An end
// that is left out is open.
func readWindow(path string, groups *schedulingv1.GroupSchedulePatternGroups) (civil.Range, error) {
	window := allDays
	if text := groups.GetStartDate(); text != "" {
		from, err := parseDate(path+".startDate", text)
		if err != nil {
			return civil.Range{}, err
		}
		window.From = from
	}
	to, err := parseEnd(path+".endDate", groups.GetEndDate())
	if err != nil {
		return civil.Range{}, err
	}
	window.To = to
	// The last day of the calendar is one that every open assignment has.
	if window.From >= civil.Forever {
		window.From = civil.Forever.AddDays(-1)
	}
	if window.Empty() {
		return civil.Range{}, fault.New(codeRange, http.StatusBadRequest, path+".endDate must not be before startDate.")
	}
	return window, nil
}

package patternassignment

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// Get returns one assignment, or the error 404.
func (s *Assignments) Get(ctx context.Context, id int64) (*schedulingv1.GroupSchedulePattern, error) {
	visible, err := s.visibleOnDays(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.kind.readOne(ctx, s.deps.Pool, id)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || !visible.HasOn(list[0].ownerID, list[0].days) {
		return nil, patterndefinition.NotFound(resourceName, id)
	}
	messages, err := s.messages(ctx, list)
	if err != nil {
		return nil, err
	}
	return messages[0], rpc.SetVersion(ctx, int64(list[0].version))
}

// Selection selects current assignments, their history, or both.
type Selection struct{ Current, History bool }

// ReadOptions selects the owners and the days.
type ReadOptions struct {
	// Path is the path of the options in the request.
	Path string
	Refs []*commonv1.Ref
	// StartDate and EndDate are the window, both inclusive. Either can be empty.
	StartDate, EndDate string
	// AsOf is a past instant as text. "" selects the present state.
	AsOf string
}

// asOfPath is the path of a past instant in requests.
const asOfPath = "multiReadOptions.asOfDateTime"

// Read returns the selected assignments of owners that the caller sees on all days of the assignments.
func (s *Assignments) Read(ctx context.Context, selected Selection, options ReadOptions) ([]*schedulingv1.GroupSchedulePattern, []*schedulingv1.GroupSchedulePatternHistory, error) {
	window, err := readWindow(options)
	if err != nil {
		return nil, nil, err
	}
	var at time.Time
	if options.AsOf != "" {
		if at, err = s.deps.Instants.Find(ctx, asOfPath, options.AsOf); err != nil {
			return nil, nil, err
		}
	}
	owners, _, err := s.FindOwners(rowvisibility.OnAnyDay(ctx), options.Refs, false)
	if err != nil {
		return nil, nil, err
	}
	visible, err := s.visibleOnDays(ctx)
	if err != nil {
		return nil, nil, err
	}
	ids := make([]int64, len(owners))
	var always []int64 // A history has all days.
	for i, owner := range owners {
		ids[i] = owner.ID
		if visible.HasOn(owner.ID, allDays) {
			always = append(always, owner.ID)
		}
	}
	if options.AsOf != "" {
		past, err := s.readPast(ctx, ids, window, visible, at)
		return past, nil, err
	}
	var list []assignment
	var histories []*schedulingv1.GroupSchedulePatternHistory
	err = pg.InSnapshot(ctx, s.deps.Pool, func(ctx context.Context, tx pgx.Tx) (err error) {
		if selected.Current {
			if list, err = s.kind.current(ctx, tx, ids, window); err != nil {
				return err
			}
		}
		if selected.History {
			if histories, err = s.kind.history.Read(ctx, tx, always, window, maxRead+1); err == nil {
				err = s.kind.checkRead(len(histories))
			}
		}
		return err
	})
	if err != nil || !selected.Current {
		return nil, histories, err
	}
	list = slices.DeleteFunc(list, func(a assignment) bool { return !visible.HasOn(a.ownerID, a.days) })
	// Stored patterns never change, so they can be read outside the snapshot.
	messages, err := s.messages(ctx, list)
	return messages, histories, err
}

// readPast returns the assignments that owners had at an instant. They do not say through which day
// they were applied, because the states of propagations have no past.
func (s *Assignments) readPast(ctx context.Context, owners []int64, window civil.Range, visible rowvisibility.Set, at time.Time) ([]*schedulingv1.GroupSchedulePattern, error) {
	list, err := s.kind.past(ctx, s.deps.Pool, owners, window, at)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(a assignment) bool { return !visible.HasOn(a.ownerID, a.days) })
	messages, err := s.messages(ctx, list)
	for _, m := range messages {
		m.PopulatedThroughDate = ""
	}
	return messages, err
}

// messages returns assignments for responses.
func (s *Assignments) messages(ctx context.Context, list []assignment) ([]*schedulingv1.GroupSchedulePattern, error) {
	ids := make([]int64, len(list))
	for i := range list {
		ids[i] = list[i].patternID
	}
	patterns, err := s.deps.Definitions.Patterns(ctx, s.deps.Pool, ids)
	if err != nil {
		return nil, err
	}
	if err := setupref.Show(ctx, s.deps.Pool, slices.Collect(maps.Values(patterns))...); err != nil {
		return nil, err
	}
	messages := make([]*schedulingv1.GroupSchedulePattern, len(list))
	for i := range list {
		messages[i] = list[i].message(patterns[list[i].patternID])
	}
	return messages, nil
}

// ParseSelection parses the select of a request, which is case-sensitive. Without one, everything
// is selected. The history has no past: it has all versions with their times. past reports whether
// the request is about a past instant.
func ParseSelection(names []string, current, history string, past bool) (Selection, error) {
	if len(names) == 0 {
		return Selection{Current: true, History: !past}, nil
	}
	var s Selection
	for i, name := range names {
		switch name {
		case current:
			s.Current = true
		case history:
			if past {
				return Selection{}, patterndefinition.Invalid(fmt.Sprintf("select[%d]", i),
					"must not be %q if %s is given: the history has all versions with their times", history, asOfPath)
			}
			s.History = true
		default:
			return Selection{}, patterndefinition.Invalid(fmt.Sprintf("select[%d]", i), `must be %q or %q, or leave out select to get both`, current, history)
		}
	}
	return s, nil
}

// readWindow parses the days of a request, both ends inclusive. A missing end is open.
func readWindow(options ReadOptions) (civil.Range, error) {
	window := allDays
	if text := options.StartDate; text != "" {
		from, err := parseDate(options.Path+".startDate", text)
		if err != nil {
			return civil.Range{}, err
		}
		window.From = from
	}
	to, err := parseEnd(options.Path+".endDate", options.EndDate)
	if err != nil {
		return civil.Range{}, err
	}
	window.To = to
	// Every assignment without an end includes the last day of the calendar.
	if window.From >= civil.Forever {
		window.From = civil.Forever.AddDays(-1)
	}
	if window.Empty() {
		return civil.Range{}, fault.New(codeRange, http.StatusBadRequest, options.Path+".endDate must not be before startDate.")
	}
	return window, nil
}

package patternassignment

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

const resourceName = "schedule pattern assignment"

// allDays is the whole supported calendar.
var allDays = civil.Range{From: civil.Beginning, To: civil.Forever}

// UpdateOutcome is the outcome of a request that changes assignments. Exactly one field is set.
type UpdateOutcome struct {
	// ByID has a result for each assignment that the request identifies by id.
	ByID *ByIDOutcome
	// ByOwner has the results of the assignments of each requested owner.
	ByOwner *ByOwnerOutcome
}

// Update changes or removes assignments: all of them or, with partial success, the valid ones. It
// starts one propagation, and names it in the response.
func (s *Assignments) Update(ctx context.Context, body *schedulingv1.ApplyUpdateGroupSchedulePatterns, partial bool) (UpdateOutcome, error) {
	u, err := s.kind.readUpdate(body)
	if err != nil {
		return UpdateOutcome{}, err
	}
	var outcome UpdateOutcome
	var propagationID int64
	if u.refs != nil {
		outcome.ByOwner, propagationID, err = s.removeByOwners(ctx, u, partial)
	} else {
		outcome.ByID, propagationID, err = s.update(ctx, u, partial)
	}
	if err != nil {
		return UpdateOutcome{}, err
	}
	return outcome, propagation.SetLocation(ctx, propagationID)
}

// Delete removes an assignment, or returns the error 404.
func (s *Assignments) Delete(ctx context.Context, id int64) error {
	u := &update{
		ids: []int64{id},
		apply: func(a assignment, _ *replacement) (edit, error) {
			return removeDays(a, a.days), precondition.Check(ctx, fmt.Sprintf("schedule pattern %d", id), int64(a.version))
		},
	}
	_, propagationID, err := s.update(ctx, u, false)
	if err != nil {
		return err
	}
	return propagation.SetLocation(ctx, propagationID)
}

// ByIDOutcome is the outcome of a request that identifies assignments by id.
type ByIDOutcome = bulk.Outcome[*commonv1.Ref, *schedulingv1.GroupSchedulePatternResult]

// update edits the assignments of u.
func (s *Assignments) update(ctx context.Context, u *update, partial bool) (*ByIDOutcome, int64, error) {
	r, err := s.replacement(ctx, u)
	if err != nil {
		return nil, 0, err
	}
	visible, err := s.visibleOnDays(ctx)
	if err != nil {
		return nil, 0, err
	}
	var out *ByIDOutcome
	var propagationID int64
	err = pg.InTx(ctx, s.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		now, edits, errs, err := s.edit(ctx, tx, u, r, visible)
		if err != nil {
			return err
		}
		if !partial {
			for _, err := range errs {
				if err != nil {
					return err
				}
			}
		}
		var described []*schedulingv1.GroupSchedulePatternResult
		if described, propagationID, err = s.finish(ctx, tx, now, edits); err != nil {
			return err
		}
		out = &ByIDOutcome{}
		for i, id := range u.ids {
			if errs[i] != nil {
				out.Fail(&commonv1.Ref{Id: proto.Int64(id)}, fault.FromError(errs[i]))
				continue
			}
			out.Succeed(&commonv1.Ref{Id: proto.Int64(id)}, described[0])
			described = described[1:]
		}
		return nil
	})
	return out, propagationID, err
}

// requestPatterns is the pattern of a request that replaces patterns.
type requestPatterns struct {
	replacement
	definition *patterndefinition.Definition
	// ownerID is the owner in the request, or 0.
	ownerID int64
}

// replacement finds the pattern and the owner of u. It returns nil if u has no pattern.
func (s *Assignments) replacement(ctx context.Context, u *update) (*requestPatterns, error) {
	if u.pattern == nil {
		return nil, nil
	}
	b := &requestPatterns{}
	if err := u.readDates(&b.replacement); err != nil {
		return nil, err
	}
	if ref := u.pattern.GetGroupRef(); patterndefinition.Named(ref) {
		owners, _, err := s.FindOwners(rowvisibility.OnAnyDay(ctx), []*commonv1.Ref{ref}, false)
		if err != nil {
			return nil, err
		}
		b.ownerID = owners[0].ID
	}
	patterns := []patterndefinition.Request{{Path: u.path + ".schedulePattern", Pattern: u.pattern.GetSchedulePattern()}}
	found, err := s.deps.Definitions.Resolve(ctx, s.deps.Pool, patterns)
	if err != nil {
		return nil, err
	}
	if found[0].Err != nil {
		return nil, found[0].Err
	}
	b.definition = found[0].Definition
	b.dayCount, b.entriesPerDay = b.definition.DayCount, b.definition.EntriesPerDay
	if b.definition.Pattern.GetStartDate() != "" {
		anchor, err := cycleAnchor(b.definition.Pattern, 0)
		if err != nil {
			return nil, err
		}
		b.anchor = &anchor
	}
	return b, nil
}

// readDates parses the dates of the replacement.
func (u *update) readDates(r *replacement) error {
	r.offset = u.pattern.GetStartDateOffset()
	if text := u.pattern.GetStartDate(); text != "" {
		start, err := parseDate(u.path+".startDate", text)
		if err != nil {
			return err
		}
		r.start = &start
	}
	if text := u.pattern.GetEndDate(); text != "" {
		to, err := parseEnd(u.path+".endDate", text)
		if err != nil {
			return err
		}
		r.to = &to
	}
	return nil
}

// edit returns the current assignments of the owners and the edits of the assignments in u, or
// errors at their positions. If none of the assignments exists, the error is 404.
func (s *Assignments) edit(ctx context.Context, tx pgx.Tx, u *update, b *requestPatterns, visible rowvisibility.Set) ([]assignment, []edit, []error, error) {
	owners, err := s.kind.visibleOwners(ctx, tx, u.ids, visible)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := s.kind.lock.WaitEach(ctx, tx, owners); err != nil {
		return nil, nil, nil, err
	}
	now, err := s.kind.current(ctx, tx, owners, allDays)
	if err != nil {
		return nil, nil, nil, err
	}
	byID := make(map[int64]assignment, len(now))
	for _, a := range now {
		if visible.HasOn(a.ownerID, a.days) {
			byID[a.id] = a
		}
	}
	hired, err := s.kind.hireDates(ctx, tx, owners)
	if err != nil {
		return nil, nil, nil, err
	}
	layers := s.kind.layers(now, hired)
	rowvisibility.WritesForNobody(ctx) // in case no assignment is found
	checkDays := func(parts []assignment) error { return s.checkVisible(ctx, visible, parts) }
	errs := make([]error, len(u.ids))
	var edits []edit
	found := false
	for i, id := range u.ids {
		a, ok := byID[id]
		found = found || ok
		var e edit
		if !ok {
			errs[i] = patterndefinition.Unknown(s.kind.idsPath(i), resourceName, &commonv1.Ref{Id: proto.Int64(id)})
		} else if denied := visible.RefuseOwn(a.ownerID); denied != nil {
			errs[i] = denied
		} else if e, errs[i] = u.editOne(a, b, layers, checkDays); errs[i] == nil {
			edits = append(edits, e)
		}
	}
	if !found {
		errs[0] = patterndefinition.NotFound(resourceName, u.ids[0])
	}
	return now, edits, errs, s.putPattern(ctx, tx, edits, b)
}

// putPattern stores the pattern of a request, and sets it in the parts without one. It stores
// nothing if no edits remain.
func (s *Assignments) putPattern(ctx context.Context, tx pgx.Tx, edits []edit, b *requestPatterns) error {
	if b == nil || len(edits) == 0 {
		return nil
	}
	ids, err := s.deps.Definitions.Put(ctx, tx, []*patterndefinition.Definition{b.definition})
	if err != nil {
		return err
	}
	for i := range edits {
		for k := range edits[i].after {
			if part := &edits[i].after[k]; part.patternID == 0 {
				part.patternID = ids[0]
			}
		}
	}
	return nil
}

// editOne returns the edit of an assignment whose parts may have their days, and updates the layers.
func (u *update) editOne(a assignment, b *requestPatterns, layers *layers, checkDays func(parts []assignment) error) (edit, error) {
	var r *replacement
	if b != nil {
		r = &b.replacement
	}
	if b != nil && b.ownerID != 0 && b.ownerID != a.ownerID {
		return edit{}, patterndefinition.Invalid(u.path+"."+layers.kind.ref,
			"must be the %s of the assignment %d, which is %q", layers.kind.owner, a.id, a.ownerName)
	}
	e, err := u.apply(a, r)
	if err != nil {
		return edit{}, err
	}
	if err := checkDays(e.after); err != nil {
		return edit{}, err
	}
	if e.changes() {
		if err := layers.change(&e); err != nil {
			return edit{}, err
		}
	}
	return e, nil
}

// finish stores edits of current assignments, and describes them.
func (s *Assignments) finish(ctx context.Context, tx pgx.Tx, now []assignment, edits []edit) ([]*schedulingv1.GroupSchedulePatternResult, int64, error) {
	at, err := number(ctx, tx, edits)
	if err != nil {
		return nil, 0, err
	}
	propagationID, err := s.kind.store(ctx, tx, at, edits)
	if err != nil {
		return nil, 0, err
	}
	described, err := s.describe(ctx, tx, now, edits)
	return described, propagationID, err
}

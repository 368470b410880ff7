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
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/patterndefinition"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

const resourceName = "schedule pattern assignment"

// allDays is the calendar of the product.
var allDays = civil.Range{From: civil.Beginning, To: civil.Forever}

// UpdateOutcome is what became of a request that changes assignments: exactly one
// of its members is there.
type UpdateOutcome struct {
	// ByID has a result for each assignment that was named by its id.
	ByID *ByIDOutcome
	// ByOwner has those of the assignments of each owner that was named.
	ByOwner *ByOwnerOutcome
}

// Update changes or removes assignments, all or, with partial success, those that can
// be. It starts one propagation, which the response names.
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

// Delete removes an assignment, or returns 404.
func (s *Assignments) Delete(ctx context.Context, id int64) error {
	u := &update{
		ids: []int64{id},
		apply: func(a assignment, _ *replacement) (edit, error) {
			return without(a, a.days), precondition.Check(ctx, fmt.Sprintf("schedule pattern %d", id), int64(a.version))
		},
	}
	_, propagationID, err := s.update(ctx, u, false)
	if err != nil {
		return err
	}
	return propagation.SetLocation(ctx, propagationID)
}

// ByIDOutcome is that of a request that names assignments by id.
type ByIDOutcome = bulk.Outcome[*commonv1.Ref, *schedulingv1.GroupSchedulePatternResult]

// update edits the assignments that u names.
func (s *Assignments) update(ctx context.Context, u *update, partial bool) (*ByIDOutcome, int64, error) {
	tenantID := tenant.Of(ctx)
	r, err := s.replacement(ctx, u)
	if err != nil {
		return nil, 0, err
	}
	visible, err := s.deps.Visible(ctx)
	if err != nil {
		return nil, 0, err
	}
	var out *ByIDOutcome
	var propagationID int64
	err = pg.InTx(ctx, s.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		now, edits, errs, err := s.edit(ctx, tx, tenantID, u, r, visible)
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
		if described, propagationID, err = s.finish(ctx, tx, tenantID, now, edits); err != nil {
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

// requestPatterns is what a request that replaces patterns brings.
type requestPatterns struct {
	replacement
	definition *patterndefinition.Definition
	// ownerID is the owner that the request names, or 0.
	ownerID int64
}

// replacement finds the pattern and the owner that u brings; nil when it brings
// none.
func (s *Assignments) replacement(ctx context.Context, u *update) (*requestPatterns, error) {
	if u.given == nil {
		return nil, nil
	}
	b := &requestPatterns{}
	if err := u.readDates(&b.replacement); err != nil {
		return nil, err
	}
	if ref := u.given.GetGroupRef(); patterndefinition.Named(ref) {
		owners, _, err := s.FindOwners(ctx, []*commonv1.Ref{ref}, false)
		if err != nil {
			return nil, err
		}
		b.ownerID = owners[0].ID
	}
	asked := []patterndefinition.Request{{Path: u.path + ".schedulePattern", Pattern: u.given.GetSchedulePattern()}}
	found, err := s.deps.Definitions.Resolve(ctx, s.deps.Pool, asked)
	if err != nil {
		return nil, err
	}
	if found[0].Err != nil {
		return nil, found[0].Err
	}
	b.definition = found[0].Definition
	b.dayCount, b.entriesPerDay = b.definition.DayCount, b.definition.EntriesPerDay
	if b.definition.Pattern.GetStartDate() != "" {
		anchor, err := anchorOf(b.definition.Pattern, 0)
		if err != nil {
			return nil, err
		}
		b.anchor = &anchor
	}
	return b, nil
}

// readDates reads the dates that a given assignment has.
func (u *update) readDates(r *replacement) error {
	r.offset = u.given.GetStartDateOffset()
	if text := u.given.GetStartDate(); text != "" {
		start, err := parseDate(u.path+".startDate", text)
		if err != nil {
			return err
		}
		r.start = &start
	}
	if text := u.given.GetEndDate(); text != "" {
		to, err := parseEnd(u.path+".endDate", text)
		if err != nil {
			return err
		}
		r.to = &to
	}
	return nil
}

// edit makes the edits of the assignments that u names, or errors at their
// places, beside the assignments of their owners. It is a 404 when none of them
// exists.
func (s *Assignments) edit(ctx context.Context, tx pgx.Tx, tenantID int64, u *update, b *requestPatterns, visible rowvisibility.Set) ([]assignment, []edit, []error, error) {
	owners, err := s.kind.ownersOf(ctx, tx, tenantID, u.ids, visible)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := s.kind.lock.WaitEach(ctx, tx, tenantID, owners); err != nil {
		return nil, nil, nil, err
	}
	now, err := s.kind.current(ctx, tx, tenantID, owners, allDays)
	if err != nil {
		return nil, nil, nil, err
	}
	byID := make(map[int64]assignment, len(now))
	for _, a := range now {
		byID[a.id] = a
	}
	hired, err := s.kind.hired(ctx, tx, tenantID, owners)
	if err != nil {
		return nil, nil, nil, err
	}
	layers := s.kind.layers(now, hired)
	rowvisibility.WritesForNobody(ctx) // Where no assignment is found.
	errs := make([]error, len(u.ids))
	var edits []edit
	known := false
	for i, id := range u.ids {
		a, ok := byID[id]
		known = known || ok
		var e edit
		if !ok {
			errs[i] = patterndefinition.Unknown(s.kind.idsPath(i), resourceName, &commonv1.Ref{Id: proto.Int64(id)})
		} else if refused := visible.RefuseOwn(a.ownerID); refused != nil {
			errs[i] = refused
		} else if e, errs[i] = u.one(a, b, layers); errs[i] == nil {
			edits = append(edits, e)
		}
	}
	if !known {
		errs[0] = patterndefinition.NotFound(resourceName, u.ids[0])
	}
	return now, edits, errs, s.putPattern(ctx, tx, tenantID, edits, b)
}

// putPattern stores the pattern that a request brings and puts it into the
// parts that have none. A request of which nothing is left stores none.
func (s *Assignments) putPattern(ctx context.Context, tx pgx.Tx, tenantID int64, edits []edit, b *requestPatterns) error {
	if b == nil || len(edits) == 0 {
		return nil
	}
	ids, err := s.deps.Definitions.Put(ctx, tx, tenantID, []*patterndefinition.Definition{b.definition})
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

// one makes the edit of an assignment and keeps the layers up to date.
func (u *update) one(a assignment, b *requestPatterns, layers *layers) (edit, error) {
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
	if e.changes() {
		if err := layers.change(&e); err != nil {
			return edit{}, err
		}
	}
	return e, nil
}

// finish stores edits of what holds now, and describes them.
func (s *Assignments) finish(ctx context.Context, tx pgx.Tx, tenantID int64, now []assignment, edits []edit) ([]*schedulingv1.GroupSchedulePatternResult, int64, error) {
	at, err := number(ctx, tx, edits)
	if err != nil {
		return nil, 0, err
	}
	propagationID, err := s.kind.store(ctx, tx, tenantID, at, edits)
	if err != nil {
		return nil, 0, err
	}
	described, err := s.describe(ctx, tx, tenantID, now, edits)
	return described, propagationID, err
}

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
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
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

// results returns the results of all changed assignments.
func (o UpdateOutcome) results() []*schedulingv1.GroupSchedulePatternResult {
	if o.ByID != nil {
		return o.ByID.Successes()
	}
	var list []*schedulingv1.GroupSchedulePatternResult
	for _, one := range o.ByOwner.Successes() {
		list = append(list, one.GetResults()...)
	}
	return list
}

// Update changes or removes assignments: all of them or, with partial success, the valid ones. It
// starts one propagation, and names it in the response.
func (s *Assignments) Update(ctx context.Context, body *schedulingv1.ApplyUpdateGroupSchedulePatterns, options Options) (UpdateOutcome, error) {
	u, err := s.kind.readUpdate(body)
	if err != nil {
		return UpdateOutcome{}, fault.Join(err, s.checkPattern(u))
	}
	var outcome UpdateOutcome
	var propagationID int64
	if u.refs != nil {
		outcome.ByOwner, propagationID, err = s.removeByOwners(ctx, u, options)
	} else {
		outcome.ByID, propagationID, err = s.update(ctx, u, options)
	}
	if err != nil {
		return UpdateOutcome{}, err
	}
	s.await(ctx, propagationID, outcome.results())
	if err := s.deps.JobPaths.Warn(ctx, patterndefinition.PatternJobs(u.pattern.GetSchedulePattern())); err != nil {
		return UpdateOutcome{}, err
	}
	return outcome, propagation.SetLocation(ctx, propagationID)
}

// Delete removes an assignment, or returns the error 404.
func (s *Assignments) Delete(ctx context.Context, id int64, options Options) error {
	u := newDeletion([]int64{id}, func(a assignment) error {
		return precondition.Check(ctx, fmt.Sprintf("schedule pattern %d", id), int64(a.version))
	})
	_, propagationID, err := s.update(ctx, u, options)
	if err != nil {
		return err
	}
	return propagation.SetLocation(ctx, propagationID)
}

// newDeletion returns an update that removes assignments, unless check returns an error.
func newDeletion(ids []int64, check func(a assignment) error) *update {
	return &update{ids: ids, apply: func(a assignment, _ *replacement) (edit, error) {
		return removeDays(a, a.days), check(a)
	}}
}

// ByIDOutcome is the outcome of a request that identifies assignments by id.
type ByIDOutcome = bulk.Outcome[*commonv1.Ref, *schedulingv1.GroupSchedulePatternResult]

// update edits the assignments of u.
func (s *Assignments) update(ctx context.Context, u *update, options Options) (*ByIDOutcome, int64, error) {
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
		owners, err := s.kind.visibleOwners(ctx, tx, u.ids, visible)
		if err != nil {
			return err
		}
		if err := s.kind.lock.WaitEach(ctx, tx, owners); err != nil {
			return err
		}
		if err := proposal.Check(ctx, tx, options.Preview); err != nil {
			return err
		}
		d, err := s.decideUpdate(ctx, tx, owners, u, r, visible)
		if err != nil {
			return err
		}
		if err := d.firstError(options.Partial); err != nil {
			return err
		}
		var described []*schedulingv1.GroupSchedulePatternResult
		if described, propagationID, err = s.finish(ctx, tx, d, options); err != nil {
			return err
		}
		out = &ByIDOutcome{}
		for i, id := range u.ids {
			if d.errs[i] != nil {
				out.Fail(&commonv1.Ref{Id: proto.Int64(id)}, fault.FromError(d.errs[i]))
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
		return nil, s.checkPattern(u)
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

// checkPattern returns the faults of the pattern of u, as far as they need no lookup.
func (s *Assignments) checkPattern(u *update) error {
	if u == nil || u.pattern == nil {
		return nil
	}
	pattern := patterndefinition.Request{Path: u.path + ".schedulePattern", Pattern: u.pattern.GetSchedulePattern()}
	return fault.Join(u.readDates(&replacement{}), s.deps.Definitions.Faults(pattern))
}

// readDates parses the dates of the replacement.
func (u *update) readDates(r *replacement) error {
	r.offset = u.pattern.GetStartDateOffset()
	var errs []error
	if text := u.pattern.GetStartDate(); text != "" {
		start, err := parseDate(u.path+".startDate", text)
		r.start, errs = &start, append(errs, err)
	}
	if text := u.pattern.GetEndDate(); text != "" {
		to, err := parseEnd(u.path+".endDate", text)
		r.to, errs = &to, append(errs, err)
	}
	return fault.Join(errs...)
}

// decideUpdate edits the assignments in u, which belong to the owners. If none of the assignments
// exists, the error is 404. It writes nothing. To store the decision, callers must hold the locks of
// the owners.
func (s *Assignments) decideUpdate(ctx context.Context, db pg.Querier, owners []int64, u *update, b *requestPatterns, visible rowvisibility.Set) (*decision, error) {
	now, err := s.kind.current(ctx, db, owners, allDays)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]assignment, len(now))
	for _, a := range now {
		if visible.HasOn(a.ownerID, a.days) {
			byID[a.id] = a
		}
	}
	hired, err := s.kind.hireDates(ctx, db, owners)
	if err != nil {
		return nil, err
	}
	layers := s.kind.layers(now, hired)
	if b != nil {
		if layers.patterns, err = s.deps.Definitions.Find(ctx, db, []*patterndefinition.Definition{b.definition}); err != nil {
			return nil, err
		}
	}
	rowvisibility.WritesForNobody(ctx) // in case no assignment is found
	checkDays := func(parts []assignment) error { return s.checkVisible(ctx, visible, parts) }
	d := &decision{owners: owners, now: now, errs: make([]error, len(u.ids))}
	found := false
	for i, id := range u.ids {
		a, ok := byID[id]
		found = found || ok
		var e edit
		if !ok {
			d.errs[i] = patterndefinition.Unknown(s.kind.idsPath(i), resourceName, &commonv1.Ref{Id: proto.Int64(id)})
		} else if denied := visible.RefuseOwn(a.ownerID); denied != nil {
			d.errs[i] = denied
		} else if e, d.errs[i] = u.editOne(a, b, layers, checkDays); d.errs[i] == nil {
			d.edits = append(d.edits, e)
		}
	}
	if !found {
		d.errs[0] = patterndefinition.NotFound(resourceName, u.ids[0])
	}
	return d, nil
}

// editOne returns the edit of an assignment whose parts may have their days, and updates the layers.
func (u *update) editOne(a assignment, b *requestPatterns, layers *layers, checkDays func(parts []assignment) error) (edit, error) {
	var r *replacement
	var definition *patterndefinition.Definition
	if b != nil {
		r, definition = &b.replacement, b.definition
	}
	if b != nil && b.ownerID != 0 && b.ownerID != a.ownerID {
		return edit{}, patterndefinition.Invalid(u.path+"."+layers.kind.ref,
			"must be the %s of the assignment %d, which is %q", layers.kind.owner, a.id, a.ownerName)
	}
	e, err := u.apply(a, r)
	if err != nil {
		return edit{}, err
	}
	e.definition = definition
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

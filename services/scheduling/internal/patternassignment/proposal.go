package patternassignment

import (
	"context"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Proposal is a change that is decided and not stored. Numbers that the database would assign are
// negative.
type Proposal struct {
	// Results are the results that the change would return. New assignments have no id.
	Results []*schedulingv1.GroupSchedulePatternResult
	// OwnerIDs are the owners of the assignments in the request, ascending.
	OwnerIDs []int64
	// Days are the days that the change affects, from the first to the last; empty without a change.
	Days civil.Range
	// Ended are the ids of the versions that end.
	Ended []int64
	// Added are the new versions of owners whose patterns reach schedules.
	Added []span.Assignment
	// Patterns are the patterns of Added that are not stored, by negative id.
	Patterns map[int64]*schedulingv1.SchedulePattern
}

// Decide decides a change on the state that db reads. It writes nothing and takes no locks.
type Decide func(ctx context.Context, db pg.Querier) (*Proposal, error)

// ProposeCreate returns the decision of [Assignments.Create] for a request that is not partial. It
// must not be called in a transaction.
func (s *Assignments) ProposeCreate(ctx context.Context, inputs []*schedulingv1.GroupSchedulePatternCreate) (Decide, error) {
	list := s.kind.readCreations(inputs)
	if err := s.complete(ctx, list, false); err != nil {
		return nil, err
	}
	return func(ctx context.Context, db pg.Querier) (*Proposal, error) {
		d, err := s.decideCreate(ctx, db, list)
		return s.propose(ctx, db, d, err)
	}, nil
}

// ProposeUpdate is like [Assignments.ProposeCreate], for [Assignments.Update].
func (s *Assignments) ProposeUpdate(ctx context.Context, body *schedulingv1.ApplyUpdateGroupSchedulePatterns) (Decide, error) {
	u, err := s.kind.readUpdate(body)
	if err != nil {
		return nil, fault.Join(err, s.checkPattern(u))
	}
	if u.refs == nil {
		return s.proposeUpdate(ctx, u)
	}
	owners, _, err := s.FindOwners(ctx, u.refs, false)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(owners))
	for i := range owners {
		ids[i] = owners[i].ID
	}
	return func(ctx context.Context, db pg.Querier) (*Proposal, error) {
		d, err := s.decideRemoval(ctx, db, ids, u.window)
		return s.propose(ctx, db, d, err)
	}, nil
}

// ProposeDelete is like [Assignments.ProposeCreate], for [Assignments.Delete] of several
// assignments. It ignores If-Match.
func (s *Assignments) ProposeDelete(ctx context.Context, ids []int64) (Decide, error) {
	return s.proposeUpdate(ctx, newDeletion(ids, func(assignment) error { return nil }))
}

func (s *Assignments) proposeUpdate(ctx context.Context, u *update) (Decide, error) {
	r, err := s.replacement(ctx, u)
	if err != nil {
		return nil, err
	}
	visible, err := s.visibleOnDays(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, db pg.Querier) (*Proposal, error) {
		owners, err := s.kind.visibleOwners(ctx, db, u.ids, visible)
		if err != nil {
			return nil, err
		}
		d, err := s.decideUpdate(ctx, db, owners, u, r, visible)
		return s.propose(ctx, db, d, err)
	}, nil
}

// propose numbers and describes a decision without storing it.
func (s *Assignments) propose(ctx context.Context, db pg.Querier, d *decision, err error) (*Proposal, error) {
	if err != nil {
		return nil, err
	}
	if err := d.firstError(false); err != nil {
		return nil, err
	}
	p := &Proposal{OwnerIDs: slices.Compact(slices.Sorted(slices.Values(d.owners))), Patterns: map[int64]*schedulingv1.SchedulePattern{}}
	definitions := newDefinitions(d.edits)
	ids, err := s.deps.Definitions.Find(ctx, db, definitions)
	if err != nil {
		return nil, err
	}
	for _, definition := range definitions {
		if id := ids[definition]; id < 0 {
			p.Patterns[id] = definition.Pattern
		}
	}
	setPatterns(d.edits, ids)
	numberUnstored(d.edits)
	p.addEdits(d.edits)
	p.Results, err = s.describe(ctx, db, d, p.Patterns)
	return p, err
}

// numberUnstored is [number] for a change that is not stored.
func numberUnstored(edits []edit) {
	id, seq := int64(0), firstNewSeq
	for i := range edits {
		if !edits[i].changes() {
			continue
		}
		for k := range edits[i].after {
			a := &edits[i].after[k]
			a.applied = false
			a.version++
			if a.id == 0 {
				id--
				a.id, a.version = id, 1
			}
			if a.seq == 0 {
				seq++
				a.seq = seq
			}
			if a.lineage == 0 {
				a.lineage = a.id
			}
		}
	}
}

// addEdits adds the changes of numbered edits.
func (p *Proposal) addEdits(edits []edit) {
	for i := range edits {
		e := &edits[i]
		if !e.changes() {
			continue
		}
		affected := e.affectedDays()
		if p.Days.Empty() {
			p.Days = affected.days
		}
		p.Days = civil.Range{From: min(p.Days.From, affected.days.From), To: max(p.Days.To, affected.days.To)}
		if e.before.id != 0 {
			p.Ended = append(p.Ended, e.before.id)
		}
		for k := range e.after {
			if a := &e.after[k]; a.inherits {
				p.Added = append(p.Added, a.layer())
			}
		}
	}
}

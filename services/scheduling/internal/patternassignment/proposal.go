package patternassignment

import (
	"context"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// ProposeCreate returns the decision of [Assignments.Create] for a request that is not partial. It
// must not be called in a transaction.
func (s *Assignments) ProposeCreate(ctx context.Context, inputs []*schedulingv1.GroupSchedulePatternCreate) (proposal.Decide, error) {
	list := s.kind.readCreations(inputs)
	if err := s.complete(ctx, list, false); err != nil {
		return nil, err
	}
	return func(ctx context.Context, db pg.Querier) (*proposal.Proposal, error) {
		d, err := s.decideCreate(ctx, db, list)
		return s.propose(ctx, db, d, err)
	}, nil
}

// ProposeUpdate is like [Assignments.ProposeCreate], for [Assignments.Update].
func (s *Assignments) ProposeUpdate(ctx context.Context, body *schedulingv1.ApplyUpdateGroupSchedulePatterns) (proposal.Decide, error) {
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
	return func(ctx context.Context, db pg.Querier) (*proposal.Proposal, error) {
		d, err := s.decideRemoval(ctx, db, ids, u.window)
		return s.propose(ctx, db, d, err)
	}, nil
}

// ProposeDelete is like [Assignments.ProposeCreate], for [Assignments.Delete] of several
// assignments. It ignores If-Match.
func (s *Assignments) ProposeDelete(ctx context.Context, ids []int64) (proposal.Decide, error) {
	return s.proposeUpdate(ctx, newDeletion(ids, func(assignment) error { return nil }))
}

func (s *Assignments) proposeUpdate(ctx context.Context, u *update) (proposal.Decide, error) {
	r, err := s.replacement(ctx, u)
	if err != nil {
		return nil, err
	}
	visible, err := s.visibleOnDays(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, db pg.Querier) (*proposal.Proposal, error) {
		owners, err := s.kind.visibleOwners(ctx, db, u.ids, visible)
		if err != nil {
			return nil, err
		}
		d, err := s.decideUpdate(ctx, db, owners, u, r, visible)
		return s.propose(ctx, db, d, err)
	}, nil
}

// propose numbers and describes a decision without storing it.
func (s *Assignments) propose(ctx context.Context, db pg.Querier, d *decision, err error) (*proposal.Proposal, error) {
	if err != nil {
		return nil, err
	}
	if err := d.firstError(false); err != nil {
		return nil, err
	}
	definitions := newDefinitions(d.edits)
	ids, err := s.deps.Definitions.Find(ctx, db, definitions)
	if err != nil {
		return nil, err
	}
	unstored := map[int64]*schedulingv1.SchedulePattern{}
	for _, definition := range definitions {
		if id := ids[definition]; id < 0 {
			unstored[id] = definition.Pattern
		}
	}
	setPatterns(d.edits, ids)
	p := s.kind.newProposal(d.owners, d.edits)
	p.Patterns = unstored
	p.Results, err = s.describe(ctx, db, d, unstored)
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

// newProposal numbers edits and proposes them.
func (k *Kind) newProposal(owners []int64, edits []edit) *proposal.Proposal {
	p := &proposal.Proposal{Added: map[int64][]span.Assignment{}}
	ids := slices.Compact(slices.Sorted(slices.Values(owners)))
	if k.ofEmployees {
		p.EmployeeIDs = ids
	} else {
		p.TermIDs = ids
	}
	numberUnstored(edits)
	names := map[int64]string{}
	for i := range edits {
		e := &edits[i]
		for _, a := range append([]assignment{e.before}, e.after...) {
			names[a.ownerID] = a.ownerName
		}
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
				p.Added[a.ownerID] = append(p.Added[a.ownerID], a.layer())
			}
		}
	}
	for _, id := range ids {
		if name, found := names[id]; found {
			p.Owners = append(p.Owners, &commonv1.Ref{Id: proto.Int64(id), Qualifier: proto.String(name)})
		}
	}
	return p
}

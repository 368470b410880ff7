package patternassignment

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

// ByOwnerOutcome is the outcome of a request with owners. Each owner has a result for each affected
// assignment.
type ByOwnerOutcome = bulk.Outcome[*commonv1.Ref, *schedulingv1.GroupSchedulePatternResults]

// removeByOwners removes the days of u from all assignments of its owners. An owner that is listed
// twice gets its results once.
func (s *Assignments) removeByOwners(ctx context.Context, u *update, options Options) (*ByOwnerOutcome, int64, error) {
	owners, errs, err := s.FindOwners(ctx, u.refs, options.Partial)
	if err != nil {
		return nil, 0, err
	}
	var ids []int64
	for i, owner := range owners {
		if errs[i] == nil {
			ids = append(ids, owner.ID)
		}
	}
	var propagationID int64
	var byOwner map[int64]*schedulingv1.GroupSchedulePatternResults
	err = pg.InTx(ctx, s.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.kind.lock.WaitEach(ctx, tx, ids); err != nil {
			return err
		}
		if err := proposal.Check(ctx, tx, options.Preview); err != nil {
			return err
		}
		d, err := s.decideRemoval(ctx, tx, ids, u.window)
		if err != nil {
			return err
		}
		var described []*schedulingv1.GroupSchedulePatternResult
		if described, propagationID, err = s.finish(ctx, tx, d, options); err != nil {
			return err
		}
		byOwner = map[int64]*schedulingv1.GroupSchedulePatternResults{}
		for _, id := range ids {
			byOwner[id] = &schedulingv1.GroupSchedulePatternResults{}
		}
		for i, e := range d.edits {
			list := byOwner[e.before.ownerID]
			list.Results = append(list.Results, described[i])
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	out := &ByOwnerOutcome{}
	for i, ref := range u.refs {
		if errs[i] != nil {
			out.Fail(ref, fault.FromError(errs[i]))
			continue
		}
		out.Succeed(ref, byOwner[owners[i].ID])
		byOwner[owners[i].ID] = &schedulingv1.GroupSchedulePatternResults{}
	}
	return out, propagationID, nil
}

// decideRemoval removes days from all assignments of owners. It writes nothing. To store the
// decision, callers must hold the locks of the owners.
func (s *Assignments) decideRemoval(ctx context.Context, db pg.Querier, owners []int64, days civil.Range) (*decision, error) {
	now, err := s.kind.current(ctx, db, owners, days)
	if err != nil {
		return nil, err
	}
	d := &decision{owners: owners, now: now, edits: make([]edit, len(now)), errs: make([]error, len(now))}
	for i, a := range now {
		d.edits[i] = removeDays(a, days)
	}
	return d, nil
}

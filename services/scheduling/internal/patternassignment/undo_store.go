package patternassignment

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

// selectHeads reads the last versions of assignments. Retention never deletes them.
const selectHeads = `
SELECT DISTINCT ON (id) id, version, coalesce(ended_by, 0) FROM pattern_assignment
WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id, version DESC`

// Undo undoes a change of assignments, as [propagation.Undo] says.
func (s *Assignments) Undo(ctx context.Context, request *propagation.UndoRequest) (int64, []*schedulingv1.LaterDecision, error) {
	visible, err := s.visibleOnDays(ctx)
	if err != nil {
		return 0, nil, err
	}
	var propagationID int64
	var later []*schedulingv1.LaterDecision
	err = pg.InTx(ctx, s.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.kind.lock.WaitEach(ctx, tx, request.Target.Owners()); err != nil {
			return err
		}
		if err := proposal.Check(ctx, tx, request.Preview); err != nil {
			return err
		}
		d, err := s.decideUndo(ctx, tx, request, visible)
		if err != nil {
			return err
		}
		at, err := number(ctx, tx, d.edits)
		if err != nil {
			return err
		}
		later = d.later
		propagationID, err = s.kind.storeFor(ctx, tx, at, d.edits, func(stored *propagation.Request) {
			stored.Cause, stored.Undoes, stored.Reason = propagation.CauseUndo, request.Target, request.Reason
		})
		if err != nil {
			return err
		}
		return proposal.Record(ctx, tx, request.Preview, propagationID)
	})
	return propagationID, later, err
}

// ProposeUndo returns the decision of [Assignments.Undo]. It must not be called in a transaction.
func (s *Assignments) ProposeUndo(ctx context.Context, request *propagation.UndoRequest) (proposal.Decide, error) {
	visible, err := s.visibleOnDays(ctx)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, db pg.Querier) (*proposal.Proposal, error) {
		d, err := s.decideUndo(ctx, db, request, visible)
		if err != nil {
			return nil, err
		}
		p := s.kind.newProposal(request.Target.Owners(), d.edits)
		p.Later, p.RestoresFrom = d.later, &request.Target.AcceptedAt
		return p, nil
	}, nil
}

// decideUndo decides an undo, and returns an error if it must not be made. To store the decision,
// callers must hold the locks of the owners.
func (s *Assignments) decideUndo(ctx context.Context, db pg.Querier, request *propagation.UndoRequest, visible rowvisibility.Set) (*UndoDecision, error) {
	if _, err := propagation.ReadUndoable(ctx, db, request.Target.ID); err != nil {
		return nil, err
	}
	d, err := s.DecideUndo(ctx, db, request.Target, visible)
	if err != nil {
		return nil, err
	}
	return d, request.RefuseUndo(d.later, len(d.edits) == 0)
}

// DecideUndo computes the undo of a change, and writes nothing. To store the decision, callers must
// hold the locks of the owners. The caller of the operation must see all owners on the days of the
// change.
func (s *Assignments) DecideUndo(ctx context.Context, db pg.Querier, target *propagation.Undoable, visible rowvisibility.Set) (*UndoDecision, error) {
	rows, err := db.Query(ctx, s.kind.selectChanged, tenant.Of(ctx), target.ID)
	versions, err := s.kind.collect(rows, err)
	if err != nil {
		return nil, err
	}
	rowvisibility.WritesForNobody(ctx) // in case nothing of the change is left
	if err := checkMayUndo(ctx, visible, versions); err != nil {
		return nil, err
	}
	now, err := s.kind.current(ctx, db, target.Owners(), allDays)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(versions))
	for i := range versions {
		ids[i] = versions[i].id
	}
	heads := make(map[int64]head, len(ids))
	var id int64
	var last head
	err = pg.ForEach(ctx, db, []any{&id, &last.version, &last.endedBy}, func() error {
		heads[id] = last
		return nil
	}, selectHeads, tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("patternassignment: read last versions: %w", err)
	}
	return s.kind.decideUndo(target.ID, versions, now, heads), nil
}

// checkMayUndo returns an error unless the caller may write the owners of all versions on their
// days.
func checkMayUndo(ctx context.Context, visible rowvisibility.Set, versions []assignment) error {
	for i := range versions {
		if v := &versions[i]; !visible.HasOn(v.ownerID, v.days) {
			authn.NoteNotVisible(ctx)
			return propagation.OwnersHidden()
		}
	}
	for i := range versions {
		if denied := visible.RefuseOwn(versions[i].ownerID); denied != nil {
			return denied
		}
	}
	return nil
}

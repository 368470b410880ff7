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
)

// selectHeads reads the last versions of assignments. Retention never deletes them.
const selectHeads = `
SELECT DISTINCT ON (id) id, version, coalesce(ended_by, 0) FROM pattern_assignment
WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id, version DESC`

// Undo undoes a change of assignments, as [propagation.Undo] says.
func (s *Assignments) Undo(ctx context.Context, target *propagation.Undoable, remaining bool, reason string) (int64, []*schedulingv1.LaterDecision, error) {
	visible, err := s.visibleOnDays(ctx)
	if err != nil {
		return 0, nil, err
	}
	owners := append(append([]int64{}, target.TermIDs...), target.EmployeeIDs...)
	var propagationID int64
	var later []*schedulingv1.LaterDecision
	err = pg.InTx(ctx, s.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := s.kind.lock.WaitEach(ctx, tx, owners); err != nil {
			return err
		}
		if _, err := propagation.ReadUndoable(ctx, tx, target.ID); err != nil {
			return err
		}
		d, err := s.DecideUndo(ctx, tx, target, visible)
		if err != nil {
			return err
		}
		if later = d.later; len(later) > 0 && !remaining {
			return propagation.BuiltOn(later, "Undo them first, or send the mode REMAINING to undo the rest.")
		}
		switch {
		case len(d.edits) == 0 && len(later) == 0:
			return propagation.NothingLeft()
		case len(d.edits) == 0:
			return propagation.BuiltOn(later, "Nothing else of the change is left to undo.")
		}
		at, err := number(ctx, tx, d.edits)
		if err != nil {
			return err
		}
		propagationID, err = s.kind.storeFor(ctx, tx, at, d.edits, func(request *propagation.Request) {
			request.Cause, request.Undoes, request.Reason = propagation.CauseUndo, target, reason
		})
		return err
	})
	return propagationID, later, err
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
	owners := append(append([]int64{}, target.TermIDs...), target.EmployeeIDs...)
	now, err := s.kind.current(ctx, db, owners, allDays)
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

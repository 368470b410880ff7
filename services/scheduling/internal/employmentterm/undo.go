package employmentterm

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/proposal"
)

// Undo gives a term the other value of allowsInheritance again, as [propagation.Undo] says. A later
// change of the value is the only decision that can build on the change.
func (h *Handler) Undo(ctx context.Context, request *propagation.UndoRequest) (int64, []*schedulingv1.LaterDecision, error) {
	rowvisibility.WritesForNobody(ctx)
	var propagationID int64
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := get(ctx, tx, request.Target.TermIDs[0], true); err != nil {
			return err
		}
		if err := proposal.Check(ctx, tx, request.Preview); err != nil {
			return err
		}
		old, err := decideUndo(ctx, tx, request.Target)
		if err != nil {
			return err
		}
		restored := !*request.Target.AllowsInheritance
		old.term.AllowsInheritance = proto.Bool(restored)
		written, err := update(ctx, tx, old.id, old.term)
		if err != nil {
			return err
		}
		propagationID, err = propagation.Start(ctx, tx, propagation.Request{
			Cause: propagation.CauseUndo, TermIDs: request.Target.TermIDs, AllowsInheritance: &restored, Undoes: request.Target, Reason: request.Reason,
		})
		if err != nil {
			return err
		}
		if err := proposal.Record(ctx, tx, request.Preview, propagationID); err != nil {
			return err
		}
		return outbox.Append(ctx, tx, written.changedEvent(false))
	})
	return propagationID, nil, err
}

// ProposeUndo returns the decision of Undo.
func (h *Handler) ProposeUndo(_ context.Context, request *propagation.UndoRequest) (proposal.Decide, error) {
	return func(ctx context.Context, db pg.Querier) (*proposal.Proposal, error) {
		old, err := decideUndo(ctx, db, request.Target)
		if err != nil {
			return nil, err
		}
		return &proposal.Proposal{
			TermIDs: request.Target.TermIDs, Owners: []*commonv1.Ref{{Id: proto.Int64(old.id), Qualifier: proto.String(old.term.GetName())}},
			RestoresFrom: &request.Target.AcceptedAt, Inherits: map[int64]bool{old.id: !*request.Target.AllowsInheritance},
		}, nil
	}, nil
}

// decideUndo returns the term whose value of allowsInheritance an undo changes, or an error if it must
// not be made. To store the decision, callers must hold the lock of the term.
func decideUndo(ctx context.Context, db pg.Querier, target *propagation.Undoable) (row, error) {
	old, err := get(ctx, db, target.TermIDs[0], false)
	if err != nil {
		return row{}, err
	}
	if _, err := propagation.ReadUndoable(ctx, db, target.ID); err != nil {
		return row{}, err
	}
	if old.term.GetAllowsInheritance() != *target.AllowsInheritance {
		return row{}, propagation.BuiltOn([]*schedulingv1.LaterDecision{changedBack(old)}, "Nothing of the change is left to undo.")
	}
	return old, nil
}

func changedBack(r row) *schedulingv1.LaterDecision {
	return &schedulingv1.LaterDecision{
		Reason: "CHANGED", Owner: &commonv1.Ref{Id: proto.Int64(r.id), Qualifier: proto.String(r.term.GetName())},
		Message: fmt.Sprintf("allowsInheritance of the employment term %.80q was changed later.", r.term.GetName()),
	}
}

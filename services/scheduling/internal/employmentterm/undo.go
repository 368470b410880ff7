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
)

// Undo gives a term the other value of allowsInheritance again, as [propagation.Undo] says. A later
// change of the value is the only decision that can build on the change.
func (h *Handler) Undo(ctx context.Context, target *propagation.Undoable, _ bool, reason string) (int64, []*schedulingv1.LaterDecision, error) {
	rowvisibility.WritesForNobody(ctx)
	var propagationID int64
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		old, err := get(ctx, tx, target.TermIDs[0], true)
		if err != nil {
			return err
		}
		if _, err := propagation.ReadUndoable(ctx, tx, target.ID); err != nil {
			return err
		}
		restored := !*target.AllowsInheritance
		if old.term.GetAllowsInheritance() == restored {
			return propagation.BuiltOn([]*schedulingv1.LaterDecision{changedBack(old)}, "Nothing of the change is left to undo.")
		}
		old.term.AllowsInheritance = proto.Bool(restored)
		written, err := update(ctx, tx, old.id, old.term)
		if err != nil {
			return err
		}
		propagationID, err = propagation.Start(ctx, tx, propagation.Request{
			Cause: propagation.CauseUndo, TermIDs: target.TermIDs, AllowsInheritance: &restored, Undoes: target, Reason: reason,
		})
		if err != nil {
			return err
		}
		return outbox.Append(ctx, tx, written.changedEvent(false))
	})
	return propagationID, nil, err
}

func changedBack(r row) *schedulingv1.LaterDecision {
	return &schedulingv1.LaterDecision{
		Reason: "CHANGED", Owner: &commonv1.Ref{Id: proto.Int64(r.id), Qualifier: proto.String(r.term.GetName())},
		Message: fmt.Sprintf("allowsInheritance of the employment term %.80q was changed later.", r.term.GetName()),
	}
}

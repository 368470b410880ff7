package scheduleitem

import (
	"context"

	"github.com/jackc/pgx/v5"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
)

// Cover adds pay code edits that cover an employee's shifts on their days, and returns their ids.
// It adds none if a day is locked. The caller wakes the relay after the commit.
func (h *PayCodeEdits) Cover(ctx context.Context, tx pgx.Tx, employee *projection.Employee, edits []*schedulingv1.PayCodeEdit) ([]int64, error) {
	drafts := make([]*itemdraft.Draft, len(edits))
	for i, edit := range edits {
		d, err := h.edits.Draft(edit, employee)
		if err != nil {
			return nil, err
		}
		d.Covers = true
		drafts[i] = d
	}
	return h.edits.InsertTx(ctx, tx, drafts)
}

// Uncover removes pay code edits. It ignores edits that no longer exist. It removes none if a day
// of one is locked.
func (h *PayCodeEdits) Uncover(ctx context.Context, tx pgx.Tx, ids []int64) error {
	return h.edits.DeleteTx(ctx, tx, ids)
}

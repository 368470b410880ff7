package scheduleitem

import (
	"context"

	"github.com/jackc/pgx/v5"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
)

// Cover puts pay code edits of an employee on the schedule that take the shifts of
// their days, and returns their ids. It refuses all when a day is locked. The
// caller wakes the relay after the commit.
func (h *PayCodeEdits) Cover(ctx context.Context, tx pgx.Tx, tenantID int64, employee *projection.Employee, edits []*schedulingv1.PayCodeEdit) ([]int64, error) {
	drafts := make([]*itemdraft.Draft, len(edits))
	for i, edit := range edits {
		d, err := h.edits.Draft(edit, employee)
		if err != nil {
			return nil, err
		}
		d.Covers = true
		drafts[i] = d
	}
	return h.edits.Put(ctx, tx, tenantID, drafts)
}

// Uncover takes pay code edits off the schedule again. Those that are gone already
// are passed over. It refuses all when a day of one is locked.
func (h *PayCodeEdits) Uncover(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64) error {
	return h.edits.Take(ctx, tx, tenantID, ids)
}

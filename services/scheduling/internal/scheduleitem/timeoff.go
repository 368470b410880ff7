package scheduleitem

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
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
		d, err := h.edits.draft(edit, employee)
		if err != nil {
			return nil, err
		}
		d.Covers = true
		drafts[i] = d
	}
	rows, err := h.edits.insert(ctx, tx, tenantID, drafts, make([]error, len(drafts)), false)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	return ids, nil
}

// Uncover takes pay code edits off the schedule again. Those that are gone already
// are passed over. It refuses all when a day of one is locked.
func (h *PayCodeEdits) Uncover(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64) error {
	found, err := h.edits.lockEntries(ctx, tx, tenantID, rowvisibility.AllPersons(), ids, nil)
	if err != nil {
		return err
	}
	there := make([]int64, 0, len(ids))
	for _, id := range ids {
		if _, ok := found[id]; ok {
			there = append(there, id)
		}
	}
	return h.edits.delete(ctx, tx, tenantID, there, found)
}

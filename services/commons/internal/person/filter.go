package person

import (
	"context"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Hyperfinds say whom stored queries find.
type Hyperfinds interface {
	// Among answers which of some persons a query finds on the days of a range.
	Among(ctx context.Context, query *commonv1.Ref, days *commonv1.DateRange, persons []int64) (map[int64]bool, error)
}

// passes answers who passes the filter of a criterion: everybody without one.
// Who does not is left out of an answer, like those who are not active when
// only active ones are asked for.
func (h *Handler) passes(ctx context.Context, filter *commonsv1.HyperFindFilter, persons []int64) (func(int64) bool, error) {
	if filter.GetHyperfind() == nil {
		return func(int64) bool { return true }, nil
	}
	found, err := h.hyperfinds.Among(ctx, filter.GetHyperfind(), filter.GetDateRange(), persons)
	return func(id int64) bool { return found[id] }, err
}

package hyperfind

import (
	"context"

	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
)

// Among returns the subset of the persons that matches a stored query which the caller may
// use, on the days of a range, or today without a range.
func (h *Handler) Among(ctx context.Context, ref *commonv1.Ref, given *commonv1.DateRange, persons []int64) (map[int64]bool, error) {
	if given == nil {
		given = &commonv1.DateRange{SymbolicPeriod: &commonv1.Ref{Qualifier: proto.String("Today")}}
	}
	days, err := h.days(ctx, given)
	if err != nil {
		return nil, err
	}
	q, err := find(ctx, h.pool, ref, query.Caller(ctx))
	if err != nil {
		return nil, err
	}
	root, err := parse(ctx, h.pool, q.GetConstraints(), days)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]bool, len(persons))
	// The slice must not be nil, because nil stands for all persons.
	among := append([]int64{}, persons...)
	err = h.finder.executor.Run(ctx, root, days, among, func(id int64, _, _ []byte) { found[id] = true })
	return found, err
}

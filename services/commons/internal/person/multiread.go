package person

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// MultiReadBasePersons returns the short form of persons in the order of the request. Unknown
// persons fail separately. If the request asks for active persons only, the others are left
// out.
func (h *Handler) MultiReadBasePersons(ctx context.Context, req *commonsv1.MultiReadPersonsRequest) (*commonsv1.BasePersonList, error) {
	out := &bulk.Outcome[*commonsv1.PersonIdentity, *commonsv1.BasePerson]{}
	err := h.reader.ForEachBase(ctx, req.GetWhere(), func(k store.Key, b *reader.Base) error {
		if b == nil {
			out.Fail(k.Identity(), k.NotFound())
		} else {
			out.Succeed(nil, b.Message())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResultWithCode(ctx, out, fault.CodeBulkFailed) // Operations on persons use this code.
	return &commonsv1.BasePersonList{Persons: done, Failure: failure}, err
}

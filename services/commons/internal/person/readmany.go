package person

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// MultiReadPersons returns persons in the order of the request. Unknown persons fail
// separately. If the request asks for active persons only, the others are left out.
func (h *Handler) MultiReadPersons(ctx context.Context, req *commonsv1.MultiReadPersonsRequest) (*commonsv1.PersonList, error) {
	out := &bulk.Outcome[*commonsv1.PersonIdentity, *commonsv1.Person]{}
	err := h.reader.ForEach(ctx, req.GetWhere(), func(_ civil.Date, k store.Key, p *store.Person) {
		if p == nil {
			out.Fail(k.Identity(), k.NotFound())
			return
		}
		out.Succeed(nil, p.Render(p.ID, h.reader.Today(ctx)))
	})
	if err != nil {
		return nil, err
	}
	return personList(ctx, out)
}

// MultiReadPersonRefs returns references to persons in the order of the request. The response
// has no property for errors, so an unknown person fails the whole request.
func (h *Handler) MultiReadPersonRefs(ctx context.Context, req *commonsv1.MultiReadPersonsRequest) (*commonv1.RefList, error) {
	out := &commonv1.RefList{}
	err := h.reader.ForEachBase(ctx, req.GetWhere(), func(k store.Key, b *reader.Base) error {
		if b == nil {
			return k.NotFound()
		}
		out.Ids, out.Qualifiers = append(out.Ids, b.ID), append(out.Qualifiers, b.Number)
		out.Refs = append(out.Refs, &commonv1.Ref{Id: proto.Int64(b.ID), Qualifier: proto.String(b.Number)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

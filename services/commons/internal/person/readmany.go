package person

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// MultiReadPersons answers persons in the order asked for. Unknown persons fail
// by themselves; those who are not active are left out when only active ones
// are asked for.
func (h *Handler) MultiReadPersons(ctx context.Context, req *commonsv1.MultiReadPersonsRequest) (*commonsv1.PersonList, error) {
	out := &bulk.Outcome[*commonsv1.PersonIdentity, *commonsv1.Person]{}
	err := h.reader.each(ctx, req.GetWhere(), func(_ civil.Date, k key, p *stored) {
		if p == nil {
			out.Fail(k.identity(), k.unknown())
			return
		}
		out.Succeed(nil, p.show(p.id, h.reader.today()))
	})
	if err != nil {
		return nil, err
	}
	return personList(ctx, out)
}

// MultiReadPersonRefs answers references to persons in the order asked for.
// There is no room for errors in the answer, so an unknown person is one for all.
func (h *Handler) MultiReadPersonRefs(ctx context.Context, req *commonsv1.MultiReadPersonsRequest) (*commonv1.RefList, error) {
	out := &commonv1.RefList{}
	err := h.reader.eachBase(ctx, req.GetWhere(), func(k key, b *base) error {
		if b == nil {
			return k.unknown()
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

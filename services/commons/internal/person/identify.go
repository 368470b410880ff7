package person

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// IdentifyPersons finds the persons of a criterion or of identities. It returns only persons
// whom the caller may see.
func (h *Handler) IdentifyPersons(ctx context.Context, req *commonsv1.IdentifyPersonsRequest) (*commonsv1.IdentifyPersonsResponse, error) {
	if len(req.GetIdentities()) > 0 {
		return h.identify(ctx, req.GetIdentities())
	}
	out := &commonsv1.IdentifyPersonsResponse{}
	err := h.reader.ForEachBase(ctx, req.GetWhere(), func(k store.Key, b *reader.Base) error {
		out.Persons = append(out.Persons, identifiedPerson(k, b))
		return nil
	})
	return out, err
}

func (h *Handler) identify(ctx context.Context, identities []*commonsv1.PersonIdentity) (*commonsv1.IdentifyPersonsResponse, error) {
	today := h.reader.Today(ctx)
	keys, wrong := make([]store.Key, len(identities)), make([]error, len(identities))
	for i, id := range identities {
		keys[i], wrong[i] = reader.ParseIdentity(id, today)
	}
	found, err := h.reader.VisibleBases(ctx, keys, today)
	if err != nil {
		return nil, err
	}
	out := &commonsv1.IdentifyPersonsResponse{}
	for i, id := range identities {
		if wrong[i] != nil {
			out.Persons = append(out.Persons, &commonsv1.IdentifiedPerson{Identity: id, Error: fault.FromError(wrong[i]).Body()})
			continue
		}
		var base *reader.Base
		if b, ok := found[keys[i]]; ok {
			base = &b
		}
		out.Persons = append(out.Persons, identifiedPerson(keys[i], base))
	}
	return out, nil
}

func identifiedPerson(k store.Key, b *reader.Base) *commonsv1.IdentifiedPerson {
	if b == nil {
		return &commonsv1.IdentifiedPerson{Identity: k.Identity(), Error: k.NotFound().Body()}
	}
	return &commonsv1.IdentifiedPerson{PersonId: b.ID}
}

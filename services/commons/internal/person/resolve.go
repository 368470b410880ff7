package person

import (
	"context"
	"slices"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// ResolvePersons returns the states of persons that other domains store. It leaves out
// unknown persons.
func (h *Handler) ResolvePersons(ctx context.Context, req *commonsv1.ResolvePersonsRequest) (*commonsv1.ResolvePersonsResponse, error) {
	named, err := store.IDsOfNumbers(ctx, h.pool, req.GetPersonNumbers())
	if err != nil {
		return nil, err
	}
	found, err := store.ReadStates(ctx, h.pool, slices.Concat(req.GetIds(), named))
	return &commonsv1.ResolvePersonsResponse{Persons: found}, err
}

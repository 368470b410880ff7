package person

import (
	"context"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// maxResolved limits the ids and numbers in one call between services.
const maxResolved = 10000

// ResolvePersons returns the states of persons that other domains store. It leaves out
// unknown persons.
func (h *Handler) ResolvePersons(ctx context.Context, req *commonsv1.ResolvePersonsRequest) (*commonsv1.ResolvePersonsResponse, error) {
	if n := len(req.GetIds()) + len(req.GetPersonNumbers()); n > maxResolved {
		return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("%d persons are more than the allowed %d.", n, maxResolved))
	}
	named, err := store.IDsOfNumbers(ctx, h.pool, req.GetPersonNumbers())
	if err != nil {
		return nil, err
	}
	found, err := store.ReadStates(ctx, h.pool, slices.Concat(req.GetIds(), named))
	return &commonsv1.ResolvePersonsResponse{Persons: found}, err
}

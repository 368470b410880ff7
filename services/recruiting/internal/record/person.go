package record

import (
	"context"
	"fmt"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Persons looks persons up in commons.
type Persons struct {
	client commonsv1.PersonServiceClient
}

// NewPersons returns Persons on a connection to commons.
func NewPersons(commons grpc.ClientConnInterface) *Persons {
	return &Persons{client: commonsv1.NewPersonServiceClient(commons)}
}

// Resolve returns the persons with the GUIDs at paths of a request. Empty GUIDs are left out. If a
// GUID belongs to no person, the error has status 400. Do not call it inside a transaction.
func (p *Persons) Resolve(ctx context.Context, guids map[string]string) (map[string]*commonsv1.PersonState, error) {
	ids := map[string]int64{}
	var asked []int64
	var errs []error
	for path, guid := range fault.InOrder(guids) {
		if guid == "" {
			continue
		}
		id, ok := PersonID(guid)
		if !ok {
			errs = append(errs, unknownPerson(path, guid))
			continue
		}
		ids[path] = id
		asked = append(asked, id)
	}
	if len(asked) == 0 {
		return nil, fault.Join(errs...)
	}
	response, err := p.client.ResolvePersons(ctx, &commonsv1.ResolvePersonsRequest{Ids: asked})
	if err != nil {
		return nil, err
	}
	found := make(map[int64]*commonsv1.PersonState, len(asked))
	for _, state := range response.GetPersons() {
		if !state.GetDeleted() {
			found[state.GetPersonId()] = state
		}
	}
	out := make(map[string]*commonsv1.PersonState, len(ids))
	for path, id := range fault.InOrder(ids) {
		state, ok := found[id]
		if !ok {
			errs = append(errs, unknownPerson(path, guids[path]))
		}
		out[path] = state
	}
	return out, fault.Join(errs...)
}

func unknownPerson(path, guid string) *fault.Error {
	return fault.Invalid(CodePersonUnknown, fmt.Sprintf("No person has the id %s.", guid)).WithMembers(path)
}

// Caller returns the GUID of the caller's person, or "" without one.
func Caller(ctx context.Context) string {
	if p, ok := authn.From(ctx); ok && p.PersonID > 0 {
		return PersonGUID(p.PersonID)
	}
	return ""
}

// Restricted reports whether the caller sees only rows that name them, and returns the id of their
// person, which is 0 if they have none. Work without a user, and callers that see all persons, are
// not restricted.
func Restricted(ctx context.Context) (person int64, restricted bool) {
	p, ok := authn.From(ctx)
	if !ok || p.IsService() || rowvisibility.Scope(p.Rows) == rowvisibility.All {
		return 0, false
	}
	return p.PersonID, true
}

package person

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
)

// DeletePerson deletes the person with the id in the path.
func (h *Handler) DeletePerson(ctx context.Context, req *commonsv1.DeletePersonRequest) (*emptypb.Empty, error) {
	k := store.Key{ID: req.GetPersonId()}
	failed, err := h.writer.Delete(ctx, []store.Key{k})
	if err != nil {
		return nil, err
	}
	if failed[k] != nil {
		if fault.HasCode(failed[k], rules.CodeUnknown) {
			return nil, reader.NotFound(k.ID)
		}
		return nil, failed[k]
	}
	return &emptypb.Empty{}, nil
}

// MultiDeletePersons deletes persons. Each item succeeds or fails separately.
func (h *Handler) MultiDeletePersons(ctx context.Context, req *commonsv1.PersonList) (*commonsv1.PersonList, error) {
	keys := make([]store.Key, len(req.GetPersons()))
	wrong := make([]error, len(keys))
	for i, in := range req.GetPersons() {
		keys[i], wrong[i] = reader.ParseIdentity(in.GetPersonIdentity(), h.reader.Today(ctx))
	}
	failed, err := h.writer.Delete(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.Person, *commonsv1.Person]{}
	for i, in := range req.GetPersons() {
		err := wrong[i]
		if err == nil {
			err = failed[keys[i]]
		}
		if err != nil {
			// The response repeats failed items, but must not contain a password.
			out.Fail(rules.WithoutPassword(in), fault.FromError(err))
		} else {
			out.Succeed(nil, &commonsv1.Person{PersonIdentity: in.GetPersonIdentity()})
		}
	}
	_, failure, err := rpc.BulkResultWithCode(ctx, out, fault.CodeBulkFailed) // Operations on persons use this code.
	return &commonsv1.PersonList{Failure: failure}, err
}

package person

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// DeletePerson deletes the person with the id in the path.
func (h *Handler) DeletePerson(ctx context.Context, req *commonsv1.DeletePersonRequest) (*emptypb.Empty, error) {
	k := key{id: req.GetPersonId()}
	failed, err := h.writer.remove(ctx, []key{k})
	if err != nil {
		return nil, err
	}
	if failed[k] != nil {
		if fault.HasCode(failed[k], CodeUnknown) {
			return nil, unknownInPath(k.id)
		}
		return nil, failed[k]
	}
	return &emptypb.Empty{}, nil
}

// MultiDeletePersons deletes persons, each of whom succeeds or fails by
// themselves.
func (h *Handler) MultiDeletePersons(ctx context.Context, req *commonsv1.PersonDeletionList) (*commonsv1.PersonDeletionList, error) {
	keys := make([]key, len(req.GetPersons()))
	wrong := make([]error, len(keys))
	for i, in := range req.GetPersons() {
		keys[i], wrong[i] = readIdentity(in.GetPersonIdentity(), h.reader.today())
	}
	failed, err := h.writer.remove(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.PersonDeletion, *commonsv1.PersonDeletion]{}
	for i, in := range req.GetPersons() {
		err := wrong[i]
		if err == nil {
			err = failed[keys[i]]
		}
		if err != nil {
			out.Fail(in, fault.FromError(err))
		} else {
			out.Succeed(in, in)
		}
	}
	_, failure, err := rpc.SettledAs(ctx, out, fault.CodeBulkFailed) // What operations on persons say.
	return &commonsv1.PersonDeletionList{Failure: failure}, err
}

package person

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/reader"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/writer"
)

// CreatePerson creates one person, with a user account if the request has one.
func (h *Handler) CreatePerson(ctx context.Context, req *commonsv1.Person) (*commonsv1.Person, error) {
	return h.writeOne(ctx, req, writer.Create)
}

// UpdatePerson changes the sent properties of the person with the id in the path.
func (h *Handler) UpdatePerson(ctx context.Context, req *commonsv1.UpdatePersonRequest) (*commonsv1.Person, error) {
	id := req.GetPersonId()
	if asked := req.GetPerson().GetPersonIdentity(); reader.IsIdentified(asked) {
		if err := h.refuseOther(ctx, asked, id); err != nil {
			return nil, err
		}
	}
	in := &commonsv1.Person{}
	if req.GetPerson() != nil {
		in = proto.CloneOf(req.GetPerson())
	}
	asked := in.GetPersonIdentity().GetRequestItemId()
	in.PersonIdentity = &commonsv1.PersonIdentity{PersonKey: &id}
	if asked != 0 {
		in.PersonIdentity.RequestItemId = &asked
	}
	out, err := h.writeOne(ctx, in, writer.Update)
	if fault.HasCode(err, rules.CodeUnknown) {
		return nil, reader.NotFound(id)
	}
	return out, err
}

// refuseOther refuses an identity that does not name the person in the path. Responses name
// persons by several properties. A caller may send them all back if each of them names the
// person in the path.
func (h *Handler) refuseOther(ctx context.Context, asked *commonsv1.PersonIdentity, id int64) error {
	parts := reader.SplitIdentity(asked)
	keys := make([]store.Key, len(parts))
	for i, part := range parts {
		var err error
		if keys[i], err = reader.ParseIdentity(part, h.reader.Today(ctx)); err != nil {
			return err
		}
	}
	known, err := h.reader.Load(ctx, keys)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if p := known[k]; p != nil && p.ID == id {
			continue
		}
		if err := rules.CheckIdentity(asked); err != nil {
			return err
		}
		return fault.Invalid(rules.CodeCombination, fmt.Sprintf("personIdentity does not name the person %d of the path.", id))
	}
	return nil
}

func (h *Handler) writeOne(ctx context.Context, in *commonsv1.Person, m writer.Mode) (*commonsv1.Person, error) {
	items, err := h.writer.Write(ctx, []*commonsv1.Person{in}, m)
	if err != nil {
		return nil, err
	}
	if items[0].Err != nil {
		return nil, items[0].Err
	}
	return items[0].Response(in, h.reader.Today(ctx)), rpc.SetVersion(ctx, items[0].State().GetVersion())
}

// MultiCreatePersons creates persons. Each item succeeds or fails separately.
func (h *Handler) MultiCreatePersons(ctx context.Context, req *commonsv1.PersonList) (*commonsv1.PersonList, error) {
	return h.writeMany(ctx, req, writer.Create)
}

// MultiUpdatePersons changes the sent properties of persons. Each item succeeds or fails
// separately.
func (h *Handler) MultiUpdatePersons(ctx context.Context, req *commonsv1.PersonList) (*commonsv1.PersonList, error) {
	return h.writeMany(ctx, req, writer.Update)
}

// MultiUpsertPersons changes existing persons and creates the others. Each item succeeds or
// fails separately.
func (h *Handler) MultiUpsertPersons(ctx context.Context, req *commonsv1.PersonList) (*commonsv1.PersonList, error) {
	return h.writeMany(ctx, req, writer.Upsert)
}

func (h *Handler) writeMany(ctx context.Context, req *commonsv1.PersonList, m writer.Mode) (*commonsv1.PersonList, error) {
	items, err := h.writer.Write(ctx, req.GetPersons(), m)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.Person, *commonsv1.Person]{}
	for i, in := range req.GetPersons() {
		if items[i].Err != nil {
			// The response repeats failed items, but must not contain a password.
			out.Fail(rules.WithoutPassword(in), fault.FromError(items[i].Err))
		} else {
			out.Succeed(nil, items[i].Response(in, h.reader.Today(ctx)))
		}
	}
	return personList(ctx, out)
}

// personList returns the outcome of an operation on several persons.
func personList[I proto.Message](ctx context.Context, out *bulk.Outcome[I, *commonsv1.Person]) (*commonsv1.PersonList, error) {
	done, failure, err := rpc.BulkResultWithCode(ctx, out, fault.CodeBulkFailed) // Operations on persons use this code.
	return &commonsv1.PersonList{Persons: done, Failure: failure}, err
}

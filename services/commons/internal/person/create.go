package person

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// item is one person of a request on the way through the operation. Its error
// is what the caller gets for it.
type item struct {
	newPerson
	err error
}

// CreatePerson creates one person, and their user account when one is given.
func (h *Handler) CreatePerson(ctx context.Context, req *commonsv1.Person) (*commonsv1.Person, error) {
	items, err := h.create(ctx, []*commonsv1.Person{req})
	if err != nil {
		return nil, err
	}
	if items[0].err != nil {
		return nil, items[0].err
	}
	return items[0].answer(req), nil
}

// MultiCreatePersons creates persons, each of which succeeds or fails by
// itself.
func (h *Handler) MultiCreatePersons(ctx context.Context, req *commonsv1.PersonList) (*commonsv1.PersonList, error) {
	items, err := h.create(ctx, req.GetPersons())
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonsv1.Person, *commonsv1.Person]{}
	for i, in := range req.GetPersons() {
		if items[i].err != nil {
			// The caller gets back what failed, and must not get a password.
			out.Fail(withoutPassword(in), fault.FromError(items[i].err))
		} else {
			out.Succeed(nil, items[i].answer(in))
		}
	}
	failure, err := out.Failure()
	if err != nil {
		return nil, err
	}
	if failure != nil {
		failure.ErrorCode = fault.CodeBulkFailed // What operations on persons say.
		return &commonsv1.PersonList{Failure: failure}, rpc.PartialSuccess(ctx)
	}
	return &commonsv1.PersonList{Persons: out.Successes()}, nil
}

// create takes the items as far as each gets. It answers an error when
// something failed that is no fault of an item; nothing was created then.
func (h *Handler) create(ctx context.Context, persons []*commonsv1.Person) ([]*item, error) {
	tenantID, _ := tenant.From(ctx)
	items := make([]*item, len(persons))
	for i, in := range persons {
		items[i] = &item{}
		items[i].draft, items[i].err = h.rules.prepare(in)
	}
	refuseTwins(items)
	if err := h.refuseTaken(ctx, tenantID, items); err != nil {
		return nil, err
	}
	if err := h.assignIDs(ctx, items); err != nil {
		return nil, err
	}
	accounts, err := h.accounts.open(ctx, tenantID, items)
	if err != nil {
		return nil, err
	}
	if err := h.store(ctx, tenantID, items, accounts); err != nil {
		h.accounts.undo(ctx, tenantID, accounts)
		return nil, err
	}
	h.wake()
	h.accounts.undo(ctx, tenantID, without(accounts, good(items)))
	return items, nil
}

// refuseTwins fails all but the first item with the same person number.
func refuseTwins(items []*item) {
	seen := map[string]bool{}
	for _, it := range good(items) {
		if seen[it.number()] {
			it.err = notUnique(it.number())
		}
		seen[it.number()] = true
	}
}

func notUnique(number string) *fault.Error {
	return fault.Invalid(CodeNotUnique, fmt.Sprintf("personInformation.person.personNumber: %q is not unique.", number))
}

// refuseTaken fails items whose person number belongs to somebody. What
// others store from now on is found when the items are stored.
func (h *Handler) refuseTaken(ctx context.Context, tenantID int64, items []*item) error {
	var numbers []string
	for _, it := range good(items) {
		numbers = append(numbers, it.number())
	}
	if len(numbers) == 0 {
		return nil
	}
	known, err := taken(ctx, h.pool, tenantID, numbers)
	if err != nil {
		return err
	}
	for _, it := range good(items) {
		if known[it.number()] {
			it.err = notUnique(it.number())
		}
	}
	return nil
}

func (h *Handler) assignIDs(ctx context.Context, items []*item) error {
	fine := good(items)
	if len(fine) == 0 {
		return nil
	}
	ids, err := newIDs(ctx, h.pool, len(fine))
	if err != nil {
		return err
	}
	for i, it := range fine {
		it.id = ids[i]
	}
	return nil
}

// store writes the items that are still good, with the event that tells of
// them, and takes back the intents of their accounts.
func (h *Handler) store(ctx context.Context, tenantID int64, items []*item, accounts []int64) error {
	candidates := good(items)
	if len(candidates) == 0 {
		return nil
	}
	return pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		persons := make([]newPerson, 0, len(candidates))
		for _, it := range candidates {
			persons = append(persons, it.newPerson)
		}
		done, err := insertPersons(ctx, tx, tenantID, persons)
		if err != nil {
			return err
		}
		for _, it := range candidates {
			it.err = nil
			if !done[it.id] {
				it.err = notUnique(it.number())
			}
		}
		persons = slices.DeleteFunc(persons, func(p newPerson) bool { return !done[p.id] })
		if len(persons) == 0 {
			return nil
		}
		if err := insertDated(ctx, tx, tenantID, persons); err != nil {
			return err
		}
		if err := forgetIntents(ctx, tx, tenantID, persons, accounts); err != nil {
			return err
		}
		event := &commonsv1.PersonsChanged{}
		for _, p := range persons {
			event.Persons = append(event.Persons, p.state())
		}
		return outbox.Append(ctx, tx, tenantID, event)
	})
}

// answer is what the caller gets for a created person.
func (it *item) answer(in *commonsv1.Person) *commonsv1.Person {
	it.person.PersonIdentity = identity(it.id, it.number())
	if asked := in.GetPersonIdentity(); asked != nil {
		it.person.PersonIdentity.RequestItemId = asked.RequestItemId
	}
	return it.person
}

// good answers the items that have not failed.
func good(items []*item) []*item {
	return slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return it.err != nil })
}

// without answers the accounts whose persons are not among the items.
func without(accounts []int64, items []*item) []int64 {
	return slices.DeleteFunc(slices.Clone(accounts), func(id int64) bool {
		return slices.ContainsFunc(items, func(it *item) bool { return it.id == id })
	})
}

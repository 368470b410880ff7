package membership

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmentterm"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// item is one element of a request during its processing. err is the error that the caller gets for
// it.
type item struct {
	change
	effect effect
	person personKey
	who    projection.Employee
	fresh  []membership
	err    error
}

// MultiUpsertEmploymentTermAssignments replaces the assignments of persons inside the span of each
// item. Each item succeeds or fails independently. Several items for one person apply in order. The
// response contains all assignments of each person, inside the span and outside.
func (h *Handler) MultiUpsertEmploymentTermAssignments(ctx context.Context, req *schedulingv1.PersonEmploymentTermsList) (*schedulingv1.PersonEmploymentTermsList, error) {
	return h.write(ctx, req.GetPersons(), replaceSpan)
}

// write changes the assignments of each item's person as the effect determines.
func (h *Handler) write(ctx context.Context, persons []*schedulingv1.PersonEmploymentTerms, kind effect) (*schedulingv1.PersonEmploymentTermsList, error) {
	items := make([]*item, len(persons))
	for i, in := range persons {
		items[i] = &item{effect: kind, err: policy.CheckItem(in)}
		if items[i].err != nil {
			continue
		}
		items[i].change, items[i].err = readChange(in)
		if items[i].err == nil && kind != replaceSpan && len(items[i].terms) == 0 {
			items[i].err = fault.Invalid(fault.CodeInput, "assignments must not be empty.")
		}
	}
	if err := h.identify(ctx, persons, items); err != nil {
		return nil, err
	}
	if err := h.identifyItems(ctx, items); err != nil {
		return nil, err
	}
	propagationID, err := h.apply(ctx, items)
	if err != nil {
		return nil, err
	}
	if err := propagation.SetLocation(ctx, propagationID); err != nil {
		return nil, err
	}
	return h.results(ctx, persons, items)
}

// identifyItems finds the persons of the items without errors.
func (h *Handler) identifyItems(ctx context.Context, items []*item) error {
	var keys []personKey
	for _, it := range items {
		if it.err == nil {
			keys = append(keys, it.person)
		}
	}
	found, missing, err := h.findPersons(ctx, keys)
	if err != nil {
		return err
	}
	for _, it := range items {
		if it.err != nil {
			continue
		}
		if missingErr := missing[it.person]; missingErr != nil {
			it.err = missingErr
			continue
		}
		it.who = found[it.person]
	}
	return nil
}

// apply writes the changes of all items without errors in one transaction, together with the event
// and the propagation. It returns the id of the propagation, or 0.
func (h *Handler) apply(ctx context.Context, items []*item) (propagationID int64, err error) {
	good := slices.DeleteFunc(slices.Clone(items), func(it *item) bool { return it.err != nil })
	if len(good) == 0 {
		return 0, nil
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		propagationID = 0
		if err := findTerms(ctx, tx, good); err != nil {
			return err
		}
		persons := personIDs(good)
		if len(persons) == 0 {
			return nil
		}
		now, err := lock(ctx, tx, persons)
		if err != nil {
			return err
		}
		if err := refuseTerminated(ctx, tx, good); err != nil {
			return err
		}
		changed := rewriteAll(now, good)
		propagationID, err = store(ctx, tx, changed)
		if err != nil || len(changed) == 0 {
			return err
		}
		return outbox.Append(ctx, tx, changedEvent(changed))
	})
	return propagationID, err
}

// findTerms looks up the terms of the items. Items with an unknown term fail.
func findTerms(ctx context.Context, tx pgx.Tx, items []*item) error {
	var ids []int64
	var names []string
	for _, it := range items {
		for _, t := range it.terms {
			if t.ref.Id != nil {
				ids = append(ids, t.ref.GetId())
			} else {
				names = append(names, t.ref.GetQualifier())
			}
		}
	}
	byID, byName, err := findTermRows(ctx, tx, ids, names)
	if err != nil {
		return err
	}
	for _, it := range items {
		it.fresh, it.err = it.fresh[:0], nil
		for _, t := range it.terms {
			found, ok := byID[t.ref.GetId()]
			if t.ref.Id == nil {
				found, ok = byName[t.ref.GetQualifier()]
			}
			if !ok {
				it.err = unknownTerm(t.ref)
				break
			}
			it.fresh = append(it.fresh, membership{found.id, t.days})
		}
	}
	return nil
}

func unknownTerm(ref *commonv1.Ref) *fault.Error {
	if ref.Id != nil {
		return fault.Invalid(employmentterm.CodeUnknownID, fmt.Sprintf("There is no employment term with id %d.", ref.GetId()))
	}
	return fault.Invalid(employmentterm.CodeUnknownName, fmt.Sprintf("There is no employment term with the name %q.", ref.GetQualifier()))
}

// personIDs returns the persons of the items without errors, in ascending order.
func personIDs(items []*item) []int64 {
	var ids []int64
	for _, it := range items {
		if it.err == nil {
			ids = append(ids, it.who.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// rewriteAll applies the items to the assignments, and returns the persons whose assignments
// change, with their next version.
func rewriteAll(now map[int64]*personAssignments, items []*item) map[int64]*personAssignments {
	after := make(map[int64][]membership, len(now))
	for id, h := range now {
		after[id] = h.list
	}
	for _, it := range items {
		if it.err == nil {
			after[it.who.ID] = it.apply(after[it.who.ID])
		}
	}
	changed := make(map[int64]*personAssignments, len(now))
	for id, h := range now {
		if !slices.Equal(h.list, after[id]) {
			changed[id] = &personAssignments{version: h.version + 1, list: after[id], request: h.request}
		}
	}
	return changed
}

func changedEvent(changed map[int64]*personAssignments) *schedulingv1.MembershipsChanged {
	event := &schedulingv1.MembershipsChanged{}
	for id, h := range changed {
		event.Persons = append(event.Persons, h.state(id))
	}
	slices.SortFunc(event.Persons, func(a, b *schedulingv1.PersonMemberships) int {
		return int(a.GetPersonId() - b.GetPersonId())
	})
	return event
}

// state returns the copy of a person's assignments for other services.
func (h *personAssignments) state(personID int64) *schedulingv1.PersonMemberships {
	out := &schedulingv1.PersonMemberships{PersonId: personID, Version: h.version, TermRequest: h.request}
	for _, m := range h.list {
		out.Memberships = append(out.Memberships, &schedulingv1.Membership{
			EmploymentTermId: m.term, From: m.days.From.String(), To: m.days.To.String(),
		})
	}
	return out
}

// results returns the response: the new assignments of each person, or the error.
func (h *Handler) results(ctx context.Context, inputs []*schedulingv1.PersonEmploymentTerms, items []*item) (*schedulingv1.PersonEmploymentTermsList, error) {
	assignments, err := readAssignments(ctx, h.pool, personIDs(items))
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*schedulingv1.PersonEmploymentTerms, *schedulingv1.PersonEmploymentTerms]{}
	for i, it := range items {
		if it.err != nil {
			out.Fail(inputs[i], fault.FromError(it.err))
		} else {
			result := toProto(it.who, assignments[it.who.ID])
			result.PersonIdentity.RequestItemId = inputs[i].GetPersonIdentity().RequestItemId
			result.AssignmentSpan = inputs[i].GetAssignmentSpan()
			out.Succeed(inputs[i], result)
		}
	}
	return response(ctx, out)
}

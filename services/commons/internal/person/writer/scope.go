package writer

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/rules"
	"github.com/rotaloom/rotaloom/services/commons/internal/person/store"
	"github.com/rotaloom/rotaloom/services/commons/internal/search"
)

// scope limits the locations at which the caller may place persons, and the employee groups
// that the caller may give them.
type scope struct {
	everywhere bool
	group      search.Group
}

// callerScope returns the scope of the caller.
func (w *Writer) callerScope(ctx context.Context) (scope, error) {
	p, ok := authn.From(ctx)
	switch {
	case !ok || p.IsService() || rowvisibility.Scope(p.Rows) == rowvisibility.All:
		return scope{everywhere: true}, nil
	case rowvisibility.Scope(p.Rows) != rowvisibility.Group:
		return scope{}, nil
	}
	group, err := w.groups.Of(ctx, p.PersonID)
	return scope{group: group}, err
}

// check refuses a person whom the caller would not see, or who would see more than the
// caller. The person's primary labor accounts and employee group must be in the caller's
// employee group. The workplaces of a hyperfind's persons are unknown, so a caller whose
// employee group is a hyperfind cannot add persons.
func (r scope) check(p *commonsv1.Person) error { return r.checkChange(p, nil) }

// checkChange does the same check for an existing person. Only changed elements count.
func (r scope) checkChange(p, before *commonsv1.Person) error {
	if r.everywhere {
		return nil
	}
	accounts := p.GetJobAssignment().GetPrimaryLaborAccounts()
	if before == nil && len(accounts) == 0 {
		return notAuthorised("You may write only persons who work in your employee group, and name their primary labor account.")
	}
	for _, a := range changedElements(accounts, before.GetJobAssignment().GetPrimaryLaborAccounts()) {
		if !r.group.Contains(a.GetOrganizationPath()) {
			return notAuthorised(fmt.Sprintf("The organizationPath %q is not in your employee group.", a.GetOrganizationPath()))
		}
	}
	for _, a := range changedElements(p.GetPersonInformation().GetPersonAccessAssignments(), before.GetPersonInformation().GetPersonAccessAssignments()) {
		if name := a.GetManagerEmployeeGroupName(); !search.ParseGroup(name).Within(r.group) {
			return notAuthorised(fmt.Sprintf("The managerEmployeeGroupName %q goes beyond your employee group.", name))
		}
	}
	return nil
}

// changedElements returns the elements of a list that the older list lacks.
func changedElements[M proto.Message](list, before []M) []M {
	return slices.DeleteFunc(slices.Clone(list), func(m M) bool {
		return slices.ContainsFunc(before, func(b M) bool { return proto.Equal(m, b) })
	})
}

func notAuthorised(message string) *fault.Error {
	return fault.New(rules.CodeNotAuthorised, http.StatusForbidden, message)
}

// wages finds the wages in sent persons.
var wages = policy.NewWages[*commonsv1.Person]()

// refuseWages fails the items with wages if the caller may not write wages.
func refuseWages(ctx context.Context, persons []*commonsv1.Person, items []*store.Item) {
	if p, ok := authn.From(ctx); !ok || p.IsService() || p.Has(policy.WagesWrite) {
		return
	}
	for i, it := range items {
		if err := wages.Refuse(persons[i]); it.Err == nil && err != nil {
			authn.NoteDeniedItem(ctx, fault.CodeWages)
			it.Err = err
		}
	}
}

// refuseOutOfScope fails the items that the caller may not write.
func (w *Writer) refuseOutOfScope(ctx context.Context, items []*store.Item) error {
	reach, err := w.callerScope(ctx)
	if err != nil {
		return err
	}
	visible, err := w.reader.Visible(ctx)
	if err != nil {
		return err
	}
	rowvisibility.WritesForNobody(ctx) // Completes the own-record check, even if no item changes a person.
	own := visible.Own()
	for _, it := range store.Valid(items) {
		var before *commonsv1.Person
		if it.Old != nil {
			before = it.Old.Message
			// The record contains the password and the access of the person. A delegate who could
			// change the delegator's record could make the temporary access permanent.
			if !own.Has(it.ID) {
				it.Err = notAuthorised("You see this person by a delegation only. Their record is changed by who sees them without one.")
				continue
			}
		}
		if it.Err = reach.checkChange(it.Message, before); it.Err == nil {
			it.Err = refuseOwn(visible, it)
		}
	}
	return nil
}

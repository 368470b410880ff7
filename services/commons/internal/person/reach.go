package person

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/employeegroup"
)

// reach is where the caller may put persons, and whose manager they may make
// them.
type reach struct {
	everywhere bool
	group      employeegroup.Group
}

// reach answers that of the caller.
func (w *writer) reach(ctx context.Context) (reach, error) {
	p, ok := authn.From(ctx)
	switch {
	case !ok || p.IsService() || rowvisibility.Scope(p.Rows) == rowvisibility.All:
		return reach{everywhere: true}, nil
	case rowvisibility.Scope(p.Rows) != rowvisibility.Group:
		return reach{}, nil
	}
	group, err := w.groups.Of(ctx, p.Tenant, p.PersonID)
	return reach{group: group}, err
}

// admit refuses a person whom the caller would not see, or who would see more
// than the caller: their primary labor accounts must be in the caller's employee
// group, and so must the group that they get. Whom a hyperfind finds is not
// where they work: whoever's group is one admits nobody.
func (r reach) admit(p *commonsv1.Person) error { return r.admitChange(p, nil) }

// admitChange is admit for somebody who was there before: only what differs from
// then counts.
func (r reach) admitChange(p, before *commonsv1.Person) error {
	if r.everywhere {
		return nil
	}
	accounts := p.GetJobAssignment().GetPrimaryLaborAccounts()
	if before == nil && len(accounts) == 0 {
		return notAuthorised("You may write only persons who work in your employee group, and name their primary labor account.")
	}
	for _, a := range changed(accounts, before.GetJobAssignment().GetPrimaryLaborAccounts()) {
		if !r.group.Contains(a.GetOrganizationPath()) {
			return notAuthorised(fmt.Sprintf("The organizationPath %q is not in your employee group.", a.GetOrganizationPath()))
		}
	}
	for _, a := range changed(p.GetPersonInformation().GetPersonAccessAssignments(), before.GetPersonInformation().GetPersonAccessAssignments()) {
		if name := a.GetManagerEmployeeGroupName(); !employeegroup.Named(name).Within(r.group) {
			return notAuthorised(fmt.Sprintf("The managerEmployeeGroupName %q goes beyond your employee group.", name))
		}
	}
	return nil
}

// changed answers the elements of a list that an older one does not have.
func changed[M proto.Message](list, before []M) []M {
	return slices.DeleteFunc(slices.Clone(list), func(m M) bool {
		return slices.ContainsFunc(before, func(b M) bool { return proto.Equal(m, b) })
	})
}

func notAuthorised(message string) *fault.Error {
	return fault.New(CodeNotAuthorised, http.StatusForbidden, message)
}

// refuseBeyondReach fails the items that the caller may not write.
func (w *writer) refuseBeyondReach(ctx context.Context, items []*item) error {
	reach, err := w.reach(ctx)
	if err != nil {
		return err
	}
	for _, it := range good(items) {
		var before *commonsv1.Person
		if it.old != nil {
			before = it.old.person
		}
		it.err = reach.admitChange(it.person, before)
	}
	return nil
}

package rowvisibility

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Groups is the Source of employee groups, which commons owns. It applies to callers with the scope
// Group.
type Groups struct {
	client commonsv1.EmployeeGroupServiceClient
}

// NewGroups returns the Source that asks commons.
func NewGroups(client commonsv1.EmployeeGroupServiceClient) Groups { return Groups{client} }

// Persons returns the members of the principal's employee group.
func (g Groups) Persons(ctx context.Context, p *authn.Principal) ([]int64, error) {
	if Scope(p.Rows) != Group {
		return nil, nil
	}
	var ids []int64
	req := &commonsv1.ListEmployeeGroupMembersRequest{PersonId: p.PersonID}
	for {
		response, err := g.client.ListEmployeeGroupMembers(ctx, req)
		if err != nil {
			return nil, err
		}
		page := response.GetPersonIds()
		ids = append(ids, page...)
		if !response.GetMore() || len(page) == 0 {
			return ids, nil
		}
		req.AfterPersonId = page[len(page)-1]
	}
}

// Days returns the days on which persons who are not in the principal's group today are in it.
func (g Groups) Days(ctx context.Context, p *authn.Principal) ([]PersonDays, error) {
	if Scope(p.Rows) != Group {
		return nil, nil
	}
	var out []PersonDays
	req := &commonsv1.ListEmployeeGroupDaysRequest{PersonId: p.PersonID}
	for {
		response, err := g.client.ListEmployeeGroupDays(ctx, req)
		if err != nil {
			return nil, err
		}
		for _, d := range response.GetDays() {
			out = append(out, PersonDays{PersonID: d.GetPersonId(), Days: civil.Range{From: civil.Date(d.GetFrom()), To: civil.Date(d.GetTo())}})
			req.AfterPersonId = d.GetPersonId()
		}
		if !response.GetMore() || len(response.GetDays()) == 0 {
			return out, nil
		}
	}
}

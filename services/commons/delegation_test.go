package commons_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// ListUserRights returns for every user the right to read their own record.
func (u *users) ListUserRights(_ context.Context, req *authv1.ListUserRightsRequest) (*authv1.ListUserRightsResponse, error) {
	out := &authv1.ListUserRightsResponse{}
	for _, q := range req.GetQueries() {
		out.Rights = append(out.Rights, &authv1.UserRights{
			PersonId: q.GetPersonId(), AccessProfile: q.GetAccessProfile(), Known: true, Within: true, RowScope: "own", Permissions: []string{"commons.person.read"},
		})
	}
	return out, nil
}

// delegationServer is the registrar that keeps the servers of delegations and persons,
// for calls with a principal of the test's choice.
type delegationServer struct {
	commonsv1.DelegationServiceServer
	personServer
}

func (d *delegationServer) RegisterService(desc *grpc.ServiceDesc, impl any) {
	if delegations, ok := impl.(commonsv1.DelegationServiceServer); ok {
		d.DelegationServiceServer = delegations
	}
	d.personServer.RegisterService(desc, impl)
}

func delegations(t *testing.T) (*fixture, *delegationServer) {
	t.Helper()
	b, d := newFixture(t), &delegationServer{}
	b.service.Register(d)
	return b, d
}

// user is a context as the chain makes it for a user who reads persons.
func user(t *testing.T, person int64, rows string) context.Context {
	p := &authn.Principal{Tenant: 1, Subject: fmt.Sprint("user-", person), PersonID: person, Rows: rows, Permissions: []string{"commons.person.read", "commons.delegation.write"}}
	return authn.WithPermission(authn.With(inTenant(t, 1), p, ""), "commons.person.read")
}

func (b *fixture) people(t *testing.T, n int) []int64 {
	t.Helper()
	ids := make([]int64, n)
	for i := range ids {
		made, err := b.persons.CreatePerson(inTenant(t, 1), plain(fmt.Sprint("P", i)))
		require.NoError(t, err)
		ids[i] = made.GetPersonIdentity().GetPersonKey()
	}
	return ids
}

func fromTo(delegator, delegate int64, first, last string) *commonsv1.Delegation {
	return &commonsv1.Delegation{
		Delegator: &commonsv1.DelegationPerson{Id: &delegator}, Delegate: &commonsv1.DelegationPerson{Id: &delegate}, StartDate: first, EndDate: last,
	}
}

// A delegation begins and ends with days of the tenant's zone while the service runs, without a
// call. Clocks go forward on its last day, which has 23 hours.
func TestADelegationEndsByItself(t *testing.T) {
	t.Parallel()
	b, d := delegations(t)
	ids := b.people(t, 2)
	delegator, delegate := ids[0], ids[1]
	made, err := d.CreateDelegation(user(t, 77, "all"), fromTo(delegator, delegate, "2026-03-28", "2026-03-29"))
	require.NoError(t, err)
	assert.Equal(t, "PENDING", made.GetStatus())
	for _, moment := range []struct {
		at, status string
		seen       bool
	}{
		{"2026-03-27T22:59:50Z", "PENDING", false},
		{"2026-03-27T23:00:05Z", "ACTIVE", true},
		{"2026-03-29T00:59:59Z", "ACTIVE", true},
		{"2026-03-29T21:59:50Z", "ACTIVE", true},
		{"2026-03-29T22:00:05Z", "", false},
		{"2026-03-30T12:00:00Z", "", false},
	} {
		t.Run(moment.at, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, moment.at)
			require.NoError(t, err)
			b.clock.Advance(at.Sub(b.clock.Now()))
			_, err = d.GetPerson(user(t, delegate, "own"), &commonsv1.GetPersonRequest{PersonId: delegator})
			assert.Equal(t, moment.seen, err == nil, err)
			for _, who := range ids {
				list, err := d.ListCurrentUserDelegations(user(t, who, "own"), &commonsv1.ListCurrentUserDelegationsRequest{})
				require.NoError(t, err)
				if moment.status == "" {
					assert.Empty(t, list.GetDelegations())
					continue
				}
				require.Len(t, list.GetDelegations(), 1)
				assert.Equal(t, moment.status, list.GetDelegations()[0].GetStatus())
			}
			_, err = d.GetPerson(user(t, delegator, "own"), &commonsv1.GetPersonRequest{PersonId: delegate})
			assert.Error(t, err, "it goes one way")
		})
	}
}

// A person delegates to ten at most, and is the delegate of twenty at most. Ended delegations do
// not count.
func TestDelegationsOfAPersonAreBounded(t *testing.T) {
	t.Parallel()
	const first, last = "2026-03-02", "2026-03-05"
	b, d := delegations(t)
	ids := b.people(t, 23)
	chief := user(t, 77, "all")
	for name, c := range map[string]struct {
		most int
		// nth returns a delegation of the person with another person for each n.
		nth func(n int) *commonsv1.Delegation
	}{
		"given": {10, func(n int) *commonsv1.Delegation { return fromTo(ids[0], ids[n], first, last) }},
		"taken": {20, func(n int) *commonsv1.Delegation { return fromTo(ids[n], ids[22], first, last) }},
	} {
		t.Run(name, func(t *testing.T) {
			refused := func(n int) {
				t.Helper()
				_, err := d.CreateDelegation(chief, c.nth(n))
				assert.True(t, fault.HasCode(err, "WRL-10604") && fault.HasStatus(err, http.StatusConflict), err)
			}
			var made *commonsv1.Delegation
			for n := range c.most {
				var err error
				made, err = d.CreateDelegation(chief, c.nth(n+1))
				require.NoError(t, err, n)
			}
			refused(c.most + 1)
			_, err := d.DeleteDelegation(chief, &commonsv1.DeleteDelegationRequest{Id: made.GetId()})
			require.NoError(t, err)
			_, err = d.CreateDelegation(chief, c.nth(c.most+1))
			require.NoError(t, err, "one was ended")
			refused(c.most)
		})
	}
	b.clock.Advance(10 * 24 * time.Hour)
	_, err := d.CreateDelegation(chief, fromTo(ids[0], ids[11], "2026-03-20", "2026-03-21"))
	require.NoError(t, err, "all of them have ended")
}

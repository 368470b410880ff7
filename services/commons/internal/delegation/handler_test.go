package delegation_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/tzdb"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/delegation"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// users is auth, where the person 4 may not log in, and the profile Chief permits more
// than anybody may.
type users struct{ authv1.UserServiceClient }

func (users) ListUserRights(_ context.Context, req *authv1.ListUserRightsRequest, _ ...grpc.CallOption) (*authv1.ListUserRightsResponse, error) {
	out := &authv1.ListUserRightsResponse{}
	for _, q := range req.GetQueries() {
		if q.GetPersonId() == 4 {
			continue
		}
		rights := &authv1.UserRights{PersonId: q.GetPersonId(), RowScope: "group", Permissions: []string{"commons.person.read"}}
		switch q.GetAccessProfile() {
		case "", "Planner":
			rights.Known, rights.Within = true, true
		case "Chief":
			rights.Known = true
		}
		out.Rights = append(out.Rights, rights)
	}
	return out, nil
}

// team is the persons whom every caller sees.
type team struct{}

func (team) Persons(context.Context, *authn.Principal) ([]int64, error) {
	return []int64{1, 2, 3, 4}, nil
}

// newDelegations has the persons 1 to 5. The first delegates to the second from 10 to 20 March
// 2026. Their local date is the first of March, while the date in UTC is the second.
func newDelegations(t *testing.T) *delegation.Handler {
	t.Helper()
	pool, now := pooltest.New(t), clock.NewFake(time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC))
	_, err := pool.Exec(tenant.With(t.Context(), 1), `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone, body)
		SELECT 1, n, 'P' || n, 'Person ' || n, 'UTC', '' FROM generate_series(1, 5) AS n`)
	require.NoError(t, err)
	zone, err := tzdb.Load("America/New_York")
	require.NoError(t, err)
	h := delegation.New(pool, delegation.NewRunning(pool, users{}, now, zone), rowvisibility.New(now, team{}))
	_, err = h.CreateDelegation(caller(t, 1, "own"), to(2, "2026-03-10", "2026-03-20"))
	require.NoError(t, err)
	return h
}

// caller is the context of a user who may delegate.
func caller(t *testing.T, person int64, rows string, permissions ...string) context.Context {
	p := &authn.Principal{Tenant: 1, Subject: fmt.Sprint("user-", person), PersonID: person, Rows: rows, Permissions: permissions}
	return authn.With(tenant.With(t.Context(), 1), p, "")
}

// chief returns a context of a user who is not a person and may end all delegations.
func chief(t *testing.T) context.Context { return caller(t, 0, "all", "commons.delegation.write") }

func byID(id int64) *commonsv1.DelegationPerson { return &commonsv1.DelegationPerson{Id: &id} }

func byNumber(number string) *commonsv1.DelegationPerson {
	return &commonsv1.DelegationPerson{Qualifier: &number}
}

func to(delegate int64, first, last string) *commonsv1.Delegation {
	return &commonsv1.Delegation{Delegate: byID(delegate), StartDate: first, EndDate: last}
}

// newDelegation returns a delegation by another user than the caller, as a role unless that is "".
func newDelegation(delegator *commonsv1.DelegationPerson, delegate *commonsv1.DelegationPerson, role string) *commonsv1.Delegation {
	out := &commonsv1.Delegation{Delegator: delegator, Delegate: delegate, StartDate: "2026-03-12", EndDate: "2026-03-12"}
	if role != "" {
		out.Role = &commonv1.Ref{Qualifier: &role}
	}
	return out
}

func TestCreatingDelegations(t *testing.T) {
	t.Parallel()
	h := newDelegations(t)
	for _, c := range []struct {
		name   string
		caller context.Context
		sent   *commonsv1.Delegation
		code   string // "" for one that is made
	}{
		{"before another one", caller(t, 1, "own"), to(2, "2026-03-01", "2026-03-09"), ""},
		{"after another one", caller(t, 1, "own"), to(2, "2026-03-21", "2026-03-22"), ""},
		{"through the first day of another one", caller(t, 1, "own"), to(2, "2026-03-09", "2026-03-10"), delegation.CodeOverlap},
		{"from the last day of another one on", caller(t, 1, "own"), to(2, "2026-03-20", "2026-03-21"), delegation.CodeOverlap},
		{"around another one", caller(t, 1, "own"), to(2, "2026-03-09", "2026-03-21"), delegation.CodeOverlap},
		{"to somebody else at the same time", caller(t, 1, "own"), to(3, "2026-03-10", "2026-03-20"), ""},
		{"back at the same time", caller(t, 2, "own"), to(1, "2026-03-10", "2026-03-20"), ""},
		{"to oneself", caller(t, 1, "own"), newDelegation(nil, byNumber("P1"), ""), delegation.CodeInvalid},
		{"to nobody", caller(t, 1, "own"), newDelegation(nil, nil, ""), delegation.CodeInvalid},
		{"to somebody who is not there", caller(t, 1, "own"), newDelegation(nil, byID(99), ""), delegation.CodePerson},
		{"to somebody whom one does not see", caller(t, 1, "own"), newDelegation(nil, byNumber("P5"), ""), delegation.CodePerson},
		{"by a user who is no person", chief(t), newDelegation(nil, byID(2), ""), delegation.CodeInvalid},
		{"of somebody else, who is seen", caller(t, 1, "group"), newDelegation(byID(3), byID(2), ""), delegation.CodeExceeds},
		{"of anybody, by who sees everybody", chief(t), newDelegation(byNumber("P3"), byID(5), ""), ""},
		{"of who may not log in", chief(t), newDelegation(byID(4), byID(2), ""), delegation.CodeNotActive},
		{"a role", caller(t, 3, "own"), newDelegation(nil, byID(2), "Planner"), ""},
		{"a role that is not there", caller(t, 3, "own"), newDelegation(nil, byID(2), "Nobody"), delegation.CodeRole},
		{"a role that may more", caller(t, 3, "own"), newDelegation(nil, byID(2), "Chief"), delegation.CodeExceeds},
	} {
		t.Run(c.name, func(t *testing.T) {
			made, err := h.CreateDelegation(c.caller, c.sent)
			if c.code != "" {
				require.True(t, fault.HasCode(err, c.code), "%v instead of %s", err, c.code)
				return
			}
			require.NoError(t, err)
			_, err = h.DeleteDelegation(chief(t), &commonsv1.DeleteDelegationRequest{Id: made.GetId()})
			require.NoError(t, err)
		})
	}
}

func TestCallersWhoMayEndDelegations(t *testing.T) {
	t.Parallel()
	h := newDelegations(t)
	for _, c := range []struct {
		name   string
		caller context.Context
		ends   bool
	}{
		{"the delegator", caller(t, 3, "own"), true},
		{"the delegate", caller(t, 4, "own"), true},
		{"somebody else who may", caller(t, 2, "group", "commons.delegation.write"), false},
		{"who sees everybody and may not", caller(t, 2, "all"), false},
		{"who sees everybody and may", chief(t), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			made, err := h.CreateDelegation(caller(t, 3, "own"), newDelegation(nil, byID(4), ""))
			require.NoError(t, err)
			_, err = h.DeleteDelegation(c.caller, &commonsv1.DeleteDelegationRequest{Id: made.GetId()})
			assert.Equal(t, c.ends, err == nil, "%v", err)
			_, err = h.DeleteDelegation(chief(t), &commonsv1.DeleteDelegationRequest{Id: made.GetId()})
			assert.Equal(t, c.ends, fault.HasCode(err, delegation.CodeUnknown), "what was ended is gone, what was not is still there: %v", err)
		})
	}
}

package auth_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

const codeLastAdministrator = "WRL-40001"

// withClerk creates a clerk who may write persons, and an administrator. Both are persons.
func withClerk(t *testing.T, b *fixture) (clerk, boss context.Context) {
	t.Helper()
	ctx := tenant.With(t.Context(), tenant.Default)
	_, err := b.pool.Exec(ctx, `INSERT INTO access_profile (tenant_id, name, permissions) VALUES (1, 'Clerk', '{commons.person.write}')`)
	require.NoError(t, err)
	_, err = b.users.PutUsers(ctx, &authv1.PutUsersRequest{Users: []*authv1.User{
		{PersonId: 11, Username: "clerk", Password: "correct horse battery", AccessProfile: "Clerk"},
		{PersonId: 12, Username: "other", Password: "correct horse battery", AccessProfile: "Clerk"},
		{PersonId: 13, Username: "boss", Password: "correct horse battery", AccessProfile: "Super"},
		{PersonId: 14, Username: "chief", Password: "correct horse battery", AccessProfile: "Super"},
	}})
	require.NoError(t, err)
	return b.loginContext(t, "clerk", "correct horse battery"), b.loginContext(t, "boss", "correct horse battery")
}

func TestUsersWithMorePermissionsCannotBeChanged(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	clerk, boss := withClerk(t, b)
	check := func(ctx context.Context, ends bool, persons ...int64) error {
		req := &authv1.CheckUserChangesRequest{}
		for _, id := range persons {
			req.Changes = append(req.Changes, &authv1.UserChange{PersonId: id, EndsLogIns: ends})
		}
		_, err := b.users.CheckUserChanges(ctx, req)
		return err
	}
	for _, ends := range []bool{true, false} {
		t.Run(fmt.Sprint(ends), func(t *testing.T) {
			err := check(clerk, ends, 11, 13, 99, 12, 14)
			require.True(t, fault.HasCode(err, fault.CodeNoAccess), err)
			assert.True(t, fault.HasStatus(err, 403), err)
			f := fault.FromError(err)
			assert.Equal(t, []int32{1, 4}, f.Details.GetErrorOffsets())
			assert.Equal(t, fault.CodeNoAccess, f.Details.GetResults()[1].GetError().GetErrorCode())
			assert.NoError(t, check(clerk, ends, 11, 12, 99), "of equals, and of nobody")
			assert.NoError(t, check(boss, ends, 11, 12, 13, 14), "the administrator of the installation is left")
		})
	}
	_, err := b.users.DeleteUsers(clerk, &authv1.DeleteUsersRequest{PersonIds: []int64{13}})
	assert.True(t, fault.HasCode(err, fault.CodeNoAccess), err)
}

func TestTheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	_, boss := withClerk(t, b)
	ctx := tenant.With(t.Context(), tenant.Default)
	_, err := b.pool.Exec(ctx, `UPDATE app_user SET access_profile = 'Employee' WHERE person_id IS NULL`)
	require.NoError(t, err)
	later := []*authv1.LockoutPeriod{{From: b.clock.Now().AddDate(0, 1, 0).Unix(), To: b.clock.Now().AddDate(0, 2, 0).Unix()}}
	past := []*authv1.LockoutPeriod{{From: b.clock.Now().AddDate(0, -2, 0).Unix(), To: b.clock.Now().AddDate(0, -1, 0).Unix()}}
	both := &authv1.CheckUserChangesRequest{Changes: []*authv1.UserChange{{PersonId: 13, EndsLogIns: true}, {PersonId: 14, EndsLogIns: true}}}
	_, err = b.users.CheckUserChanges(boss, both)
	require.True(t, fault.HasCode(err, codeLastAdministrator), "neither of both when both go: %v", err)
	assert.Equal(t, []int32{0, 1}, fault.FromError(err).Details.GetErrorOffsets())

	_, err = b.users.LockOutUsers(ctx, &authv1.LockOutUsersRequest{Users: []*authv1.UserLockout{{PersonId: 14, Version: 2, Periods: later}}})
	require.NoError(t, err, "one of two goes")
	for name, do := range map[string]func() error{
		"a check": func() error {
			_, err := b.users.CheckUserChanges(boss, &authv1.CheckUserChangesRequest{Changes: []*authv1.UserChange{{PersonId: 11}, {PersonId: 13, EndsLogIns: true}}})
			return err
		},
		"a removal": func() error {
			_, err := b.users.DeleteUsers(ctx, &authv1.DeleteUsersRequest{PersonIds: []int64{11, 13}})
			return err
		},
		"a lockout": func() error {
			_, err := b.users.LockOutUsers(ctx, &authv1.LockOutUsersRequest{Users: []*authv1.UserLockout{{PersonId: 12, Version: 2}, {PersonId: 13, Version: 2, Periods: later}}})
			return err
		},
		"another profile": func() error {
			_, err := b.users.PutUsers(boss, &authv1.PutUsersRequest{Users: []*authv1.User{
				{PersonId: 12, Username: "other", AccessProfile: "Clerk"}, {PersonId: 13, Username: "boss", AccessProfile: "Clerk"},
			}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := do()
			require.True(t, fault.HasCode(err, codeLastAdministrator), "%s: %v", name, err)
			assert.True(t, fault.HasStatus(err, 409), name)
			assert.Equal(t, []int32{1}, fault.FromError(err).Details.GetErrorOffsets(), name)
		})
	}
	_, err = b.users.LockOutUsers(ctx, &authv1.LockOutUsersRequest{Users: []*authv1.UserLockout{{PersonId: 13, Version: 2, Periods: past}}})
	assert.NoError(t, err, "what is over locks nobody out")
	_, err = b.users.PutUsers(boss, &authv1.PutUsersRequest{Users: []*authv1.User{{PersonId: 13, Username: "boss", AccessProfile: "Administrator"}}})
	assert.NoError(t, err, "still an administrator")
}

// Two administrators who remove each other at the same time do not both succeed.
func TestAdministratorsDoNotRemoveEachOther(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	withClerk(t, b)
	ctx := tenant.With(t.Context(), tenant.Default)
	_, err := b.pool.Exec(ctx, `UPDATE app_user SET access_profile = 'Employee' WHERE person_id IS NULL`)
	require.NoError(t, err)
	var wait sync.WaitGroup
	failed := make([]error, 2)
	for i, id := range []int64{13, 14} {
		wait.Go(func() {
			_, failed[i] = b.users.DeleteUsers(ctx, &authv1.DeleteUsersRequest{PersonIds: []int64{id}})
		})
	}
	wait.Wait()
	left := 0
	for _, err := range failed {
		if err != nil {
			left++
			assert.True(t, fault.HasCode(err, codeLastAdministrator), err)
		}
	}
	assert.Equal(t, 1, left)
}

// Later actions of commons appear in the audit log of the initiator.
func TestTheAuditLogNamesTheInitiator(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	withClerk(t, b)
	chain, err := rpc.NewChain(rpc.Config{}, rpc.Deps{
		Log: pgtest.Log(t), Metrics: prometheus.NewRegistry(), Verifier: b.verifier, Clock: b.clock, Audit: audit.Begin(b.clock),
	})
	require.NoError(t, err)
	local := rpc.NewLocal(chain)
	b.service.Register(local)
	users := authv1.NewUserServiceClient(local.Conn("commons", nil))
	ctx := tenant.With(t.Context(), tenant.Default)
	by := &authv1.Initiator{UserName: "boss", PersonId: 13, ClientId: clientID, RequestId: "request-0001"}
	_, err = users.LockOutUsers(ctx, &authv1.LockOutUsersRequest{Initiator: by, Users: []*authv1.UserLockout{
		{PersonId: 11, Version: 2, Periods: []*authv1.LockoutPeriod{{From: 1, To: b.clock.Now().Add(time.Hour).Unix()}}},
	}})
	require.NoError(t, err)
	_, err = users.DeleteUsers(ctx, &authv1.DeleteUsersRequest{PersonIds: []int64{11, 12}, Initiator: by})
	require.NoError(t, err)
	// A user cannot claim another initiator.
	_, err = users.DeleteUsers(b.loginContext(t, "chief", "correct horse battery"), &authv1.DeleteUsersRequest{PersonIds: []int64{11}, Initiator: by})
	require.NoError(t, err)

	rows, err := b.pool.Query(ctx, `SELECT user_name || ' ' || person_id || ' ' || client_id || ' ' || service || ' ' || array_to_string(objects, ',') || ' '
		|| (request_id = 'request-0001') FROM audit_event WHERE tenant_id = 1 AND operation LIKE '%Users' ORDER BY id`)
	require.NoError(t, err)
	var lines []string
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		lines = append(lines, line)
	}
	assert.Equal(t, []string{
		"boss 13 client-1 commons 11 true", "boss 13 client-1 commons 11,12 true", "chief 14 client-1 commons 11 false",
	}, lines)
}

package policy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestMaxMatchesTheContract(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 56_000, policy.Max[*schedulingv1.ScheduleWhere]("employees * days"), "a limit that the method enforces")
	assert.Equal(t, 500, policy.Max[*schedulingv1.ReadShiftsWhere]("shifts"), "a limit that the interceptor enforces")
	assert.Panics(t, func() { policy.Max[*schedulingv1.ScheduleWhere]("shifts") }, "there is none")
}

func TestLimitsThatMethodsEnforceUseTheContract(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		limit policy.Limit
		want  *fault.Error
	}{
		{
			"the usual text", policy.FindLimit[*schedulingv1.ScheduleWhere]("open shifts"),
			fault.TooLarge("WFP-90001", "Service limits are exceeded: open shifts in the request: 56001, allowed: 56000. Split the request into several.").
				WithLimits(56_001, 56_000),
		},
		{
			"a text and a status of its own", policy.FindLimit[*platformv1.DataFrom]("days"),
			fault.Invalid("WCO-112010", "Service limits are exceeded: days in the request: 366, allowed: 365. Split the range.").WithLimits(366, 365),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, c.limit.Check(c.limit.Max()))
			err := c.limit.Check(c.limit.Max() + 1)
			assert.Equal(t, c.want.Status, fault.FromError(err).Status)
			assert.True(t, proto.Equal(c.want.Body(), fault.FromError(err).Body()), "%v", err)
		})
	}
}

// The interceptor of the services enforces these limits, so that the methods need no code for them.
func TestRequestsBetweenServicesHaveLimits(t *testing.T) {
	t.Parallel()
	ids := func(n int) []int64 { return make([]int64, n) }
	for method, c := range map[string]struct {
		max     int
		request func(n int) proto.Message
		code    string
		status  int
	}{
		"auth.v1.UserService/PutUsers": {1000, func(n int) proto.Message { return &authv1.PutUsersRequest{Users: make([]*authv1.User, n)} }, fault.CodeBadRequest, 400},
		"auth.v1.UserService/CheckUserChanges": {
			1000, func(n int) proto.Message {
				return &authv1.CheckUserChangesRequest{Changes: make([]*authv1.UserChange, n)}
			}, fault.CodeBadRequest, 400,
		},
		"auth.v1.UserService/LockOutUsers": {1000, func(n int) proto.Message { return &authv1.LockOutUsersRequest{Users: make([]*authv1.UserLockout, n)} }, fault.CodeBadRequest, 400},
		"auth.v1.UserService/ListUserRights": {
			1000, func(n int) proto.Message {
				return &authv1.ListUserRightsRequest{Queries: make([]*authv1.UserRightsQuery, n)}
			}, fault.CodeBadRequest, 400,
		},
		"commons.v1.ContactService/ResolveContacts": {
			10_000, func(n int) proto.Message {
				return &commonsv1.ResolveContactsRequest{Ids: ids(n - 1), PersonNumbers: []string{"1"}}
			}, fault.CodeBadRequest, 400,
		},
		"commons.v1.PersonService/ResolvePersons": {
			10_000, func(n int) proto.Message {
				return &commonsv1.ResolvePersonsRequest{Ids: ids(n - 1), PersonNumbers: []string{"1"}}
			}, fault.CodeBadRequest, 400,
		},
		"commons.v1.DeviceGroupMemberService/FindDeviceGroupMembers": {
			1000, func(n int) proto.Message {
				return &commonsv1.FindDeviceGroupMembersRequest{Keys: make([]*commonsv1.MemberKey, n)}
			}, fault.CodeBadRequest, 400,
		},
		"commons.v1.PersonService/ReadBirthDates": {10_000, func(n int) proto.Message { return &commonsv1.ReadBirthDatesRequest{PersonIds: ids(n)} }, fault.CodeBadRequest, 400},
		"commons.v1.PersonService/IdentifyPersons": {
			1000, func(n int) proto.Message {
				return &commonsv1.IdentifyPersonsRequest{Identities: make([]*commonsv1.PersonIdentity, n)}
			}, fault.CodeBadRequest, 400,
		},
		"commons.v1.TermRequestService/ListTermRequests": {10_000, func(n int) proto.Message { return &commonsv1.ListTermRequestsRequest{PersonIds: ids(n)} }, fault.CodeBadRequest, 400},
		"commons.v1.PersonPayService/ReadPersonPay":      {500, func(n int) proto.Message { return &commonsv1.ReadPersonPayRequest{PersonIds: ids(n)} }, fault.CodeBadRequest, 400},
		"commons.v1.PersonPayService/ResolveJobs":        {1000, func(n int) proto.Message { return &commonsv1.ResolveJobsRequest{Jobs: make([]*commonsv1.NamedJob, n)} }, fault.CodeItemLimit, 413},
		"commons.v1.LocationService/ResolveLocations": {
			1000, func(n int) proto.Message {
				return &commonsv1.ResolveLocationsRequest{Ids: ids(n - 1), Paths: []string{"A"}}
			}, fault.CodeItemLimit, 413,
		},
		"data.v1.DataRowService/FindDataRows":          {10_000, func(n int) proto.Message { return &datav1.FindDataRowsRequest{Rows: make([]*datav1.DataRow, n)} }, fault.CodeBadRequest, 400},
		"data.v1.DataProviderService/ReadDataElements": {10_000, func(n int) proto.Message { return &datav1.ReadDataElementsRequest{RowIds: ids(n)} }, fault.CodeBadRequest, 400},
	} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			found, err := policy.NewTable(nil).Method("/rotaloom." + method)
			require.NoError(t, err)
			require.NoError(t, found.CheckLimits(c.request(c.max)))
			refused := fault.FromError(found.CheckLimits(c.request(c.max + 1)))
			require.NotNil(t, refused)
			assert.Equal(t, c.code, refused.Code)
			assert.Equal(t, c.status, refused.Status)
			assert.Contains(t, refused.Message, fmt.Sprintf("%d, allowed: %d.", c.max+1, c.max))
		})
	}
}

func TestRangeMaxMatchesTheContract(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 10_000, policy.RangeMax[*commonsv1.MultiReadLocationsRequest]("count"))
	assert.Panics(t, func() { policy.RangeMax[*commonsv1.ExecuteHyperfindRequest]("threshold") }, "there is no greatest value")
	assert.Panics(t, func() { policy.RangeMax[*commonsv1.MultiReadLocationsRequest]("where") }, "there is no range")
	assert.Panics(t, func() { policy.RangeMax[*commonsv1.MultiReadLocationsRequest]("counts") }, "there is no field")
}

package device_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/device"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person/persontest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var noon = time.Date(2026, 3, 12, 12, 0, 0, 0, time.UTC)

// members stands for commons. The groups have members by badge; the badge "T-7" is the badge of the
// employee with this person number.
type members struct {
	commonsv1.DeviceGroupMemberServiceClient
	byGroup map[int64]map[string]int64
}

func (m *members) FindDeviceGroupMembers(_ context.Context, req *commonsv1.FindDeviceGroupMembersRequest, _ ...grpc.CallOption) (*commonsv1.FindDeviceGroupMembersResponse, error) {
	out := &commonsv1.FindDeviceGroupMembersResponse{}
	for _, k := range req.GetKeys() {
		out.PersonIds = append(out.PersonIds, m.byGroup[req.GetDeviceGroupId()][k.GetBadgeNumber()+k.GetPersonNumber()])
	}
	return out, nil
}

func (m *members) FindDeviceGroupUse(context.Context, *commonsv1.FindDeviceGroupUseRequest, ...grpc.CallOption) (*commonsv1.FindDeviceGroupUseResponse, error) {
	return &commonsv1.FindDeviceGroupUseResponse{}, nil
}

// clients stands for auth. It knows the clients that were created, and fails the next calls with the
// errors of fail.
type clients struct {
	authv1.ClientServiceClient
	made []*authv1.Client
	fail []error
}

func (c *clients) next() (err error) {
	if len(c.fail) > 0 {
		err, c.fail = c.fail[0], c.fail[1:]
	}
	return err
}

func (c *clients) index(id string) int {
	return slices.IndexFunc(c.made, func(made *authv1.Client) bool { return made.GetClientId() == id })
}

func (c *clients) CreateClient(_ context.Context, req *authv1.Client, _ ...grpc.CallOption) (*authv1.Client, error) {
	if err := c.next(); err != nil {
		return nil, err
	}
	made := proto.CloneOf(req)
	made.ClientSecret = "first"
	c.made = append(c.made, made)
	return made, nil
}

func (c *clients) RotateClientSecret(_ context.Context, req *authv1.RotateClientSecretRequest, _ ...grpc.CallOption) (*authv1.Client, error) {
	if err := c.next(); err != nil {
		return nil, err
	}
	if c.index(req.GetClientId()) < 0 {
		return nil, fault.NotFound(fault.CodeNotFound, "There is no client with this id.")
	}
	return &authv1.Client{ClientId: req.GetClientId(), ClientSecret: "second"}, nil
}

func (c *clients) DeleteClient(_ context.Context, req *authv1.DeleteClientRequest, _ ...grpc.CallOption) (*emptypb.Empty, error) {
	if err := c.next(); err != nil {
		return nil, err
	}
	at := c.index(req.GetClientId())
	if at < 0 {
		return nil, fault.NotFound(fault.CodeNotFound, "There is no client with this id.")
	}
	c.made = slices.Delete(c.made, at, at+1)
	return &emptypb.Empty{}, nil
}

// fixture is a tenant with the groups "Plant" and "Office". The employees 7 and 8, with the badges "b7" and
// "b8", belong to the plant, and the employee 9 with the badge "b9" to the office.
type fixture struct {
	*device.Client
	devices     *device.Devices
	groups      *device.Groups
	credentials *device.Credentials
	clients     *clients
	pool        *pg.Pool
	clock       *clock.Fake
	// ctx belongs to an administrator.
	ctx context.Context
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{pool: pooltest.New(t), clock: clock.NewFake(noon), clients: &clients{}}
	f.ctx = authn.With(tenant.With(t.Context(), 1), &authn.Principal{Tenant: 1, Subject: "admin", PersonID: 1, Client: "app", Rows: "all", Permissions: []string{"*"}}, "")
	persontest.Add(f.ctx, t, f.pool, 7, 8, 9)
	m := &members{byGroup: map[int64]map[string]int64{}}
	f.groups = device.NewGroups(f.pool, m)
	f.devices = device.NewDevices(f.pool, f.clock)
	f.credentials = device.NewCredentials(f.pool, f.clients)
	timecards := timecardtest.New(f.pool, timecardtest.Known{}, f.clock.Now)
	f.Client = device.NewClient(device.ClientDeps{
		Pool: f.pool, Members: m, Persons: person.NewDirectory(f.pool, persontest.NobodyElse{}, nil), Timecards: timecards.Signoffs, Clock: f.clock,
	})
	for name, badges := range map[string]map[string]int64{"Plant": {"b7": 7, "T-7": 7, "b8": 8}, "Office": {"b9": 9}} {
		group, err := f.groups.CreateDeviceGroup(f.ctx, &udmv1.DeviceGroup{Name: name})
		require.NoError(t, err)
		m.byGroup[group.GetId()] = badges
	}
	return f
}

// add creates a device of a group with credentials, and returns its id and the context of its requests.
func (f *fixture) add(t *testing.T, name, group string) (int64, context.Context) {
	t.Helper()
	d, err := f.devices.CreateDevice(f.ctx, &udmv1.Device{Name: name, DeviceGroup: &commonv1.Ref{Qualifier: &group}})
	require.NoError(t, err)
	issued, err := f.credentials.IssueDeviceCredentials(f.ctx, &udmv1.IssueDeviceCredentialsRequest{Id: d.GetId()})
	require.NoError(t, err)
	return d.GetId(), asClient(t, issued.GetClientId())
}

// asClient returns the context of requests with the token of a client's own work.
func asClient(t *testing.T, clientID string) context.Context {
	t.Helper()
	return authn.With(tenant.With(t.Context(), 1), &authn.Principal{
		Tenant: 1, Subject: clientID, Client: clientID, Rows: "own",
		Permissions: []string{"udm.device_punch.write", "udm.device_employee.read", "udm.device_state.write"},
	}, "")
}

// send sends punches of a device whose clock shows a time.
func (f *fixture) send(ctx context.Context, id int64, shown time.Time, punches ...*udmv1.DevicePunch) (*udmv1.DevicePunchList, error) {
	return f.ImportDevicePunches(ctx, &udmv1.ImportDevicePunchesRequest{Id: id, Body: &udmv1.DevicePunchBatch{Clock: shown.Format(time.RFC3339), Punches: punches}})
}

func badge(sequence int64, at time.Time, number string) *udmv1.DevicePunch {
	return &udmv1.DevicePunch{Sequence: &sequence, Time: at.Format(time.RFC3339), BadgeNumber: number}
}

// stored returns the punches of an employee in the timecard, in UTC.
func (f *fixture) stored(t *testing.T, employee int64) []string {
	t.Helper()
	var out []string
	var at time.Time
	require.NoError(t, pg.ForEach(f.ctx, f.pool, []any{&at}, func() error {
		out = append(out, at.UTC().Format("2006-01-02T15:04:05"))
		return nil
	}, `SELECT at FROM punch WHERE tenant_id = 1 AND employee_id = $1 ORDER BY at`, employee))
	return out
}

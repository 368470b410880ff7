package device_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/device"
)

func TestSilentDevicesAreAway(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, ctx := f.add(t, "Gate", "Plant")
	state := func() string {
		d, err := f.devices.GetDevice(f.ctx, &udmv1.GetDeviceRequest{Id: id})
		require.NoError(t, err)
		return d.GetState()
	}
	assert.Equal(t, "NEVER_SEEN", state())
	report := &udmv1.ReportDeviceStateRequest{Id: id, Body: &udmv1.DeviceReport{Clock: noon.Format(time.RFC3339), SoftwareVersion: "4.2"}}
	reported, err := f.ReportDeviceState(ctx, report)
	require.NoError(t, err)
	assert.True(t, proto.Equal(&udmv1.DeviceState{State: "ACTIVE", LastSeen: "2026-03-12T12:00:00Z", SoftwareVersion: "4.2", ClockOffset: proto.Int64(0)}, reported), "%v", reported)
	f.clock.Advance(15 * time.Minute)
	assert.Equal(t, "ACTIVE", state())
	f.clock.Advance(time.Second)
	assert.Equal(t, "AWAY", state())
	report.Body.SoftwareVersion = ""
	reported, err = f.ReportDeviceState(ctx, report)
	require.NoError(t, err)
	assert.Equal(t, "4.2", reported.GetSoftwareVersion(), "a report without a version keeps it")
	assert.Equal(t, int64(901), reported.GetClockOffset())
	assert.Equal(t, "ACTIVE", state())
	plant := "Plant"
	_, err = f.devices.UpdateDevice(f.ctx, &udmv1.UpdateDeviceRequest{Id: id, Body: &udmv1.Device{Name: "Gate", DeviceGroup: &commonv1.Ref{Qualifier: &plant}, Active: proto.Bool(false)}})
	require.NoError(t, err)
	assert.Equal(t, "INACTIVE", state())
	_, err = f.ReportDeviceState(ctx, report)
	faulttest.RequireCode(t, device.CodeInactive, err)
}

// A request that is interrupted between the services leaves a device that the next request
// completes.
func TestInterruptedRequestsForCredentialsAreCompleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	office := "Office"
	d, err := f.devices.CreateDevice(f.ctx, &udmv1.Device{Name: "Gate", DeviceGroup: &commonv1.Ref{Qualifier: &office}})
	require.NoError(t, err)
	away := fault.Unavailable("auth is away", time.Second)
	issue := func() (*udmv1.DeviceCredentials, error) {
		return f.credentials.IssueDeviceCredentials(f.ctx, &udmv1.IssueDeviceCredentialsRequest{Id: d.GetId()})
	}
	shown := func() string {
		got, err := f.devices.GetDevice(f.ctx, &udmv1.GetDeviceRequest{Id: d.GetId()})
		require.NoError(t, err)
		return got.GetClientId()
	}
	f.clients.fail = []error{away}
	_, err = issue()
	require.Error(t, err)
	named := shown()
	require.NotEmpty(t, named)
	first, err := issue()
	require.NoError(t, err)
	assert.Equal(t, named, first.GetClientId())
	require.Len(t, f.clients.made, 1)
	made := f.clients.made[0]
	assert.Equal(t, "Device", made.GetAccessProfile())
	assert.Equal(t, []string{"udm.device_punch.write", "udm.device_employee.read", "udm.device_state.write"}, made.GetScopes())
	assert.True(t, made.GetClientGrant() && made.PasswordGrant != nil && !made.GetPasswordGrant() && made.RefreshGrant != nil && !made.GetRefreshGrant())
	second, err := issue()
	require.NoError(t, err)
	assert.NotEqual(t, first.GetClientSecret(), second.GetClientSecret())
	require.Len(t, f.clients.made, 1)

	revoke := func() error {
		_, err := f.credentials.RevokeDeviceCredentials(f.ctx, &udmv1.RevokeDeviceCredentialsRequest{Id: d.GetId()})
		return err
	}
	f.clients.fail = []error{away}
	require.Error(t, revoke())
	assert.Equal(t, named, shown(), "the device keeps the client that may still exist")
	f.clients.made = nil // The client was deleted, and the response was lost.
	require.NoError(t, revoke())
	assert.Empty(t, shown())
	require.NoError(t, revoke())
	third, err := issue()
	require.NoError(t, err)
	assert.NotEqual(t, named, third.GetClientId())
}

package device_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/device"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardfault"
)

func TestPunchTimesAreCorrectedByTheClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		error  time.Duration // of the device's clock
		offset int64
	}{
		{"right", 0, 0},
		{"ten minutes slow", -10 * time.Minute, 600},
		{"ninety seconds fast", 90 * time.Second, -90},
		{"reset to another century", -26 * 365 * 24 * time.Hour, 26 * 365 * 24 * 3600},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			id, ctx := f.add(t, "Gate", "Plant")
			punched := noon.Add(-4 * time.Hour)
			list, err := f.send(ctx, id, noon.Add(c.error), badge(1, punched.Add(c.error), "b7"))
			require.NoError(t, err)
			assert.Equal(t, "2026-03-12T08:00:00Z", list.GetPunches()[0].GetCorrectedTime())
			assert.Equal(t, punched.Add(c.error).Format(time.RFC3339), list.GetPunches()[0].GetTime(), "the raw time stays")
			assert.Equal(t, []string{"2026-03-12T08:00:00"}, f.stored(t, 7))
			var raw time.Time
			var offset int64
			require.NoError(t, f.pool.QueryRow(f.ctx, `SELECT recorded_at, clock_offset FROM device_punch WHERE tenant_id = 1`).Scan(&raw, &offset))
			assert.True(t, raw.Equal(punched.Add(c.error)))
			assert.Equal(t, c.offset, offset)
			d, err := f.devices.GetDevice(f.ctx, &udmv1.GetDeviceRequest{Id: id})
			require.NoError(t, err)
			assert.Equal(t, c.offset, d.GetClockOffset())
			assert.Equal(t, "2026-03-12T12:00:00Z", d.GetLastSeen())
		})
	}
}

// A device that was offline sends the punches of several days in one request. Several of its
// requests may arrive at once.
func TestRepeatsOfOfflineDaysStorePunchesOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, ctx := f.add(t, "Gate", "Plant")
	var punches []*udmv1.DevicePunch
	var want []string
	for day := range 5 {
		for i, hour := range []int{7, 15} {
			at := time.Date(2026, 3, 7+day, hour, 0, 0, 0, time.UTC)
			want = append(want, at.Format("2006-01-02T15:04:05"))
			for employee := range 2 {
				punches = append(punches, badge(int64(len(punches)+1), at, fmt.Sprint("b", 7+(employee+i)%2)))
			}
		}
	}
	results := make([]*udmv1.DevicePunchList, 8)
	var group errgroup.Group
	for i := range results {
		group.Go(func() (err error) {
			// Each request has another reading of the clock.
			results[i], err = f.send(ctx, id, noon.Add(time.Duration(i)*time.Hour), punches...)
			return err
		})
	}
	require.NoError(t, group.Wait())
	for _, list := range results[1:] {
		require.Len(t, list.GetPunches(), len(punches))
		for i, p := range list.GetPunches() {
			assert.True(t, proto.Equal(results[0].GetPunches()[i], p), "%v", p)
		}
	}
	assert.Len(t, f.stored(t, 7), len(want))
	assert.Len(t, f.stored(t, 8), len(want))
	var rows, differ int
	require.NoError(t, f.pool.QueryRow(f.ctx, `SELECT count(*), count(DISTINCT clock_offset) FROM device_punch WHERE tenant_id = 1`).Scan(&rows, &differ))
	assert.Equal(t, len(punches), rows)
	assert.Equal(t, 1, differ, "one request has stored all of them")
}

func TestSequenceNumbersNameOnePunch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, ctx := f.add(t, "Gate", "Plant")
	at := noon.Add(-time.Hour)
	first, err := f.send(ctx, id, noon, badge(1, at, "b7"))
	require.NoError(t, err)
	number, out := badge(1, at, ""), badge(1, at, "b7")
	number.PersonNumber = "T-7"
	out.TypeOverride = nil
	for name, c := range map[string]struct {
		sent *udmv1.DevicePunch
		code string
	}{
		"the same":                  {badge(1, at, "b7"), ""},
		"the same in another zone":  {badge(1, at.In(time.FixedZone("", 3600)), "b7"), ""},
		"the response":              {first.GetPunches()[0], ""},
		"another time":              {badge(1, at.Add(time.Second), "b7"), device.CodeSequence},
		"another badge":             {badge(1, at, "b8"), device.CodeSequence},
		"the number of the person":  {number, device.CodeSequence},
		"a badge of another group":  {badge(2, at, "b9"), device.CodeNoMember},
		"a badge of nobody":         {badge(2, at, "none"), device.CodeNoMember},
		"before the year 1900":      {badge(2, time.Date(1899, 1, 1, 0, 0, 0, 0, time.UTC), "b7"), device.CodeInvalid},
		"two days ahead":            {badge(2, noon.Add(48*time.Hour), "b7"), timecardfault.CodeNotYet},
		"no sequence number":        {badge(0, at, "b7"), device.CodeInvalid},
		"neither badge nor number":  {badge(2, at, ""), device.CodeInvalid},
		"a badge and a number, too": {&udmv1.DevicePunch{Sequence: proto.Int64(2), Time: at.Format(time.RFC3339), BadgeNumber: "b7", PersonNumber: "T-7"}, device.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			list, err := f.send(ctx, id, noon, c.sent)
			if c.code == "" {
				require.NoError(t, err)
				assert.Equal(t, first.GetPunches()[0].GetPunchId(), list.GetPunches()[0].GetPunchId())
				return
			}
			require.True(t, fault.HasCode(err, fault.CodeBulkFailed), err)
			assert.Equal(t, c.code, fault.FromError(err).Details.GetResults()[0].GetError().GetErrorCode())
		})
	}
	assert.Len(t, f.stored(t, 7), 1)
	// A refused punch has not used its number.
	_, err = f.send(ctx, id, noon, badge(2, at.Add(time.Minute), "b8"))
	require.NoError(t, err)
	// Another device has numbers of its own.
	other, otherCtx := f.add(t, "Door", "Plant")
	_, err = f.send(otherCtx, other, noon, badge(1, at.Add(time.Minute), "b7"))
	require.NoError(t, err)
	assert.Len(t, f.stored(t, 7), 2)
}

func TestOnlyTheDeviceCallsItsOperations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, ctx := f.add(t, "Gate", "Plant")
	other, otherCtx := f.add(t, "Door", "Office")
	own, _ := authn.From(ctx)
	user := *own
	user.PersonID = 7
	service := authn.With(tenant.With(t.Context(), 1), &authn.Principal{Tenant: 1, Service: "platform"}, "")
	elsewhere := *own
	elsewhere.Tenant = 2
	for name, c := range map[string]func() error{
		"an administrator": func() error { _, err := f.send(f.ctx, id, noon, badge(1, noon, "b7")); return err },
		"another device":   func() error { _, err := f.send(otherCtx, id, noon, badge(1, noon, "b9")); return err },
		"an unknown device": func() error {
			_, err := f.ListDeviceEmployees(ctx, &udmv1.ListDeviceEmployeesRequest{Id: 99_999})
			return err
		},
		"the other device": func() error {
			_, err := f.ReportDeviceState(ctx, &udmv1.ReportDeviceStateRequest{Id: other, Body: &udmv1.DeviceReport{Clock: noon.Format(time.RFC3339)}})
			return err
		},
		"a user through the client": func() error {
			_, err := f.ListDeviceEmployees(authn.With(ctx, &user, ""), &udmv1.ListDeviceEmployeesRequest{Id: id})
			return err
		},
		"a service": func() error {
			_, err := f.ListDeviceEmployees(service, &udmv1.ListDeviceEmployeesRequest{Id: id})
			return err
		},
		"a client of another tenant": func() error {
			_, err := f.ListDeviceEmployees(authn.With(tenant.With(t.Context(), 2), &elsewhere, ""), &udmv1.ListDeviceEmployeesRequest{Id: id})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { faulttest.RequireCode(t, device.CodeNotTheDevice, c()) })
	}
	assert.Empty(t, f.stored(t, 7))
	assert.Empty(t, f.stored(t, 9))
}

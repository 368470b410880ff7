package device

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
)

// Error codes of requests of devices.
const (
	// CodeNotTheDevice (403): the access token is not a token of this device. Log in with the
	// credentials of the device whose id is in the path.
	CodeNotTheDevice = "WRL-21205"
	// CodeInactive (403): the device is inactive. Set active to true first.
	CodeInactive = "WRL-21206"
	// CodeSequence (400): the device has sent another punch with the same sequence number. Give
	// each punch its own number.
	CodeSequence = "WRL-21207"
	// CodeNoMember (400): no employee in the device's group carries the badge on the day, or has the
	// person number. Correct the badge or the group of the person, and send the punch again.
	CodeNoMember = "WRL-21208"
)

// Client serves DeviceClientService.
type Client struct {
	udmv1.UnsafeDeviceClientServiceServer
	ClientDeps
	zones civil.Zones
}

// ClientDeps are the dependencies of a Client.
type ClientDeps struct {
	Pool *pg.Pool
	// Members finds the employees of device groups.
	Members commonsv1.DeviceGroupMemberServiceClient
	Persons *person.Directory
	// Timecards stores punches.
	Timecards *signoff.Store
	Clock     clock.Clock
}

var _ udmv1.DeviceClientServiceServer = (*Client)(nil)

// NewClient returns a Client.
func NewClient(deps ClientDeps) *Client { return &Client{ClientDeps: deps} }

const findDeviceOfClient = `SELECT id FROM device WHERE tenant_id = $1 AND client_id = $2`

// caller returns the device with an id if the caller is this device. The error is the same for the
// ids of other devices and for ids without a device.
func (c *Client) caller(ctx context.Context, id int64) (*udmv1.Device, error) {
	notTheDevice := fault.Forbidden(CodeNotTheDevice, "The access token is not a token of this device. Log in with the credentials of the device.")
	p, ok := authn.From(ctx)
	if !ok || p.IsService() || p.PersonID != 0 || p.Client == "" {
		return nil, notTheDevice
	}
	var own int64
	err := c.Pool.QueryRow(ctx, findDeviceOfClient, tenant.Of(ctx), p.Client).Scan(&own)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && own != id {
		return nil, notTheDevice
	}
	if err != nil {
		return nil, fmt.Errorf("find the device of a client: %w", err)
	}
	d, err := kind().Get(ctx, c.Pool, id)
	if err != nil {
		return nil, err
	}
	if !d.GetActive() {
		return nil, fault.Forbidden(CodeInactive, fmt.Sprintf("The device %q is inactive. Ask an administrator to set active to true.", d.GetName()))
	}
	return d, nil
}

// reports is the reason why the states of devices have no entries in the audit log.
const reports pg.Unaudited = "a device reports its state every few minutes, and the report changes no setup"

const storeReport = `
UPDATE device SET seen_at = $3, software_version = coalesce($4, software_version), clock_offset = coalesce($5, clock_offset)
WHERE tenant_id = $1 AND id = $2
RETURNING id, client_id, seen_at, software_version, clock_offset`

// report stores that a device sent a request at a time. The version and the offset are nil if the
// request has none.
func (c *Client) report(ctx context.Context, d *udmv1.Device, now time.Time, version *string, offset *int64) (*udmv1.DeviceState, error) {
	var r reported
	err := reports.QueryRow(ctx, c.Pool, storeReport, tenant.Of(ctx), d.GetId(), now, version, offset).
		Scan(&r.ID, &r.ClientID, &r.SeenAt, &r.SoftwareVersion, &r.ClockOffset)
	if err != nil {
		return nil, fmt.Errorf("store the report of a device: %w", err)
	}
	return r.show(d.GetActive(), now), nil
}

// ReportDeviceState stores the software version and the clock of the calling device.
func (c *Client) ReportDeviceState(ctx context.Context, req *udmv1.ReportDeviceStateRequest) (*udmv1.DeviceState, error) {
	now := clock.OfTenant(ctx, c.Clock.Now())
	d, err := c.caller(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	shown, err := parseInstant("clock", req.GetBody().GetClock())
	if err != nil {
		return nil, err
	}
	var version *string
	if v := req.GetBody().GetSoftwareVersion(); v != "" {
		version = &v
	}
	return c.report(ctx, d, now, version, clockOffset(shown, now))
}

// maxEmployees is the default number of employees in a page, and the maximum.
const maxEmployees = 1000

// ListDeviceEmployees returns a page of the employees in the group of the calling device.
func (c *Client) ListDeviceEmployees(ctx context.Context, req *udmv1.ListDeviceEmployeesRequest) (*udmv1.DeviceEmployeePage, error) {
	now := clock.OfTenant(ctx, c.Clock.Now())
	d, err := c.caller(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if _, err := c.report(ctx, d, now, nil, nil); err != nil {
		return nil, err
	}
	count := maxEmployees
	if req.Count != nil {
		count = int(req.GetCount())
	}
	found, err := c.Members.ListDeviceGroupMembers(ctx, &commonsv1.ListDeviceGroupMembersRequest{
		DeviceGroupId: d.GetDeviceGroup().GetId(), AfterPersonId: req.GetAfter(), Limit: int32(count), Day: civil.FromTime(now.UTC()).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("list the members of a device group: %w", err)
	}
	out := &udmv1.DeviceEmployeePage{}
	for _, m := range found.GetMembers() {
		e := &udmv1.DeviceEmployee{Id: m.GetPersonId(), PersonNumber: m.GetPersonNumber(), FullName: m.GetFullName()}
		for _, b := range m.GetBadges() {
			e.Badges = append(e.Badges, &udmv1.DeviceEmployeeBadge{BadgeNumber: b.GetBadgeNumber(), EffectiveDate: b.GetFrom(), ExpirationDate: b.GetTo()})
		}
		out.Employees = append(out.Employees, e)
	}
	if len(out.GetEmployees()) == count {
		out.Next = &out.GetEmployees()[count-1].Id
	}
	return out, nil
}

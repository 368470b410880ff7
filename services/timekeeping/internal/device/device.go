package device

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
)

func kind() *setup.Kind[*udmv1.Device] {
	return setup.NewKind(setup.Declaration[*udmv1.Device]{
		Codes: codes(), What: "device", Table: "device", Strip: clearComputed,
		References: []setup.Reference{{Field: "device_group", To: groupKind()}},
		Unique:     []string{"serial_number"},
	})
}

// clearComputed removes the properties that requests cannot set.
func clearComputed(d *udmv1.Device) {
	d.ClientId, d.State, d.LastSeen, d.SoftwareVersion, d.ClockOffset = "", "", "", "", nil
}

// Devices serves DeviceService.
type Devices struct {
	udmv1.UnsafeDeviceServiceServer
	resource setup.Resource[*udmv1.Device]
	clock    clock.Clock
}

var _ udmv1.DeviceServiceServer = (*Devices)(nil)

// NewDevices returns Devices in the database of the pool. The clock determines which devices are
// away.
func NewDevices(pool *pg.Pool, clk clock.Clock) *Devices {
	h := &Devices{clock: clk}
	h.resource = setup.Resource[*udmv1.Device]{
		Kind: kind(), Pool: pool, Prepare: prepare, AfterStore: h.showStored, Show: h.show, CheckUnused: checkUnused,
	}
	return h
}

func prepare(path string, d *udmv1.Device) (*udmv1.Device, error) {
	clearComputed(d)
	if d.GetDeviceGroup() == nil {
		return nil, invalid("%s.deviceGroup is missing", path)
	}
	if d.Active == nil {
		d.Active = proto.Bool(true)
	}
	return d, nil
}

// reported holds the data that a device reports about itself.
type reported struct {
	ID              int64
	ClientID        *string
	SeenAt          *time.Time
	SoftwareVersion string
	ClockOffset     *int64
}

const readReported = `
SELECT id, client_id, seen_at, software_version, clock_offset FROM device WHERE tenant_id = $1 AND id = ANY($2)`

func (h *Devices) showStored(ctx context.Context, tx pgx.Tx, _, stored *udmv1.Device) error {
	return h.fill(ctx, tx, stored)
}

func (h *Devices) show(ctx context.Context, list ...*udmv1.Device) error {
	return h.fill(ctx, h.resource.Pool, list...)
}

// fill sets the properties of devices that the devices themselves report.
func (h *Devices) fill(ctx context.Context, db pg.Querier, list ...*udmv1.Device) error {
	ids := make([]int64, len(list))
	for i, d := range list {
		ids[i] = d.GetId()
	}
	rows, err := pg.Collect(ctx, db, pgx.RowToStructByPos[reported], readReported, tenant.Of(ctx), ids)
	if err != nil {
		return fmt.Errorf("read the states of devices: %w", err)
	}
	byID := make(map[int64]reported, len(rows))
	for _, r := range rows {
		byID[r.ID] = r
	}
	for _, d := range list {
		r := byID[d.GetId()]
		if r.ClientID != nil {
			d.ClientId = *r.ClientID
		}
		state := r.show(d.GetActive(), clock.OfTenant(ctx, h.clock.Now()))
		d.State, d.LastSeen, d.SoftwareVersion, d.ClockOffset = state.GetState(), state.GetLastSeen(), state.GetSoftwareVersion(), state.ClockOffset
	}
	return nil
}

const countPunches = `SELECT FROM device_punch WHERE tenant_id = $1 AND device_id = $2 LIMIT 1`

// checkUnused returns an error if a device has credentials or punches, so that it cannot be
// deleted.
func checkUnused(ctx context.Context, tx pgx.Tx, d *udmv1.Device) error {
	r, err := pg.CollectOne(ctx, tx, pgx.RowToStructByPos[reported], readReported, tenant.Of(ctx), []int64{d.GetId()})
	if err != nil {
		return fmt.Errorf("read the credentials of a device: %w", err)
	}
	if r.ClientID != nil {
		return fault.Invalid(CodeInUse, fmt.Sprintf("The device %q has credentials. Revoke them first.", d.GetName()))
	}
	err = tx.QueryRow(ctx, countPunches, tenant.Of(ctx), d.GetId()).Scan()
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for punches of a device: %w", err)
	}
	return fault.Invalid(CodeInUse, fmt.Sprintf("The device %q has sent punches, which are kept. Set active to false instead.", d.GetName()))
}

// ListDevices returns the devices by name, or the requested one.
func (h *Devices) ListDevices(ctx context.Context, req *udmv1.ListDevicesRequest) (*udmv1.DeviceList, error) {
	list, err := h.resource.List(ctx, nil, req.Name)
	return &udmv1.DeviceList{Items: list}, err
}

// GetDevice returns one device, or 404.
func (h *Devices) GetDevice(ctx context.Context, req *udmv1.GetDeviceRequest) (*udmv1.Device, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateDevice stores a new device.
func (h *Devices) CreateDevice(ctx context.Context, req *udmv1.Device) (*udmv1.Device, error) {
	return h.resource.Create(ctx, req)
}

// UpdateDevice replaces a device.
func (h *Devices) UpdateDevice(ctx context.Context, req *udmv1.UpdateDeviceRequest) (*udmv1.Device, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteDevice deletes a device without credentials and punches.
func (h *Devices) DeleteDevice(ctx context.Context, req *udmv1.DeleteDeviceRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

// MultiReadDevices returns the named devices, in the order of the request.
func (h *Devices) MultiReadDevices(ctx context.Context, req *udmv1.MultiReadDevicesRequest) (*udmv1.DeviceList, error) {
	const path = "where.devices"
	refs, err := reflist.ExactlyOne(CodeInvalid, path, req.GetWhere().GetDevices())
	if err != nil {
		return nil, err
	}
	list, err := h.resource.Read(ctx, path, refs)
	return &udmv1.DeviceList{Items: list}, err
}

// MultiUpsertDevices replaces the existing devices and creates the others: all or none, or each
// separately with partial_success.
func (h *Devices) MultiUpsertDevices(ctx context.Context, req *udmv1.MultiUpsertDevicesRequest) (*udmv1.DeviceList, error) {
	stored, failure, err := h.resource.UpsertMany(ctx, req.GetBody().GetItems(), req.GetPartialSuccess())
	return &udmv1.DeviceList{Items: stored, Failure: failure}, err
}

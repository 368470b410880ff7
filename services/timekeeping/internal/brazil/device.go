package brazil

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/afd"
)

func deviceKind() *setup.Kind[*timekeepingv1.BrazilDevice] {
	return setup.NewKind(setup.Declaration[*timekeepingv1.BrazilDevice]{
		Codes: codes(),
		What:  "device",
		Table: "brazil_device",
		Strip: func(d *timekeepingv1.BrazilDevice) { d.DeviceGroup = nil },
	})
}

// Devices serves BrazilDeviceService.
type Devices struct {
	timekeepingv1.UnsafeBrazilDeviceServiceServer
	resource setup.Resource[*timekeepingv1.BrazilDevice]
	rows     *rowvisibility.Rules
}

var _ timekeepingv1.BrazilDeviceServiceServer = (*Devices)(nil)

// NewDevices returns Devices in the database of the pool. The rules determine which callers see all
// persons.
func NewDevices(pool *pg.Pool, rows *rowvisibility.Rules) *Devices {
	h := &Devices{rows: rows}
	h.resource = setup.Resource[*timekeepingv1.BrazilDevice]{
		Kind: deviceKind(), Pool: pool, Prepare: prepareDevice, AfterStore: storeSerial, Show: h.show, CheckUnused: checkDeviceUnused,
	}
	return h
}

func prepareDevice(_ string, d *timekeepingv1.BrazilDevice) (*timekeepingv1.BrazilDevice, error) {
	d.Type = strings.ToUpper(d.GetType())
	if !slices.Contains([]afd.Kind{afd.Conventional, afd.Alternative, afd.Program}, afd.Kind(d.GetType())) {
		return nil, invalid("type must be one of %s, %s and %s", afd.Conventional, afd.Alternative, afd.Program)
	}
	serial := bare(d.GetSerialNumber())
	switch {
	case len(serial) > lenSerial:
		return nil, fault.Invalid(CodeTooLong, fmt.Sprintf("serialNumber must have at most %d characters.", lenSerial))
	case serial == "" || !only(serial, digits+letters):
		return nil, invalid("serialNumber must have digits, or digits and letters")
	case d.GetType() != string(afd.Program) && !only(serial, digits):
		return nil, invalid("serialNumber of a %s must have digits only", d.GetType())
	}
	d.SerialNumber = padIdentifier(serial, lenSerial)
	return d, nil
}

const setSerial = `UPDATE brazil_device SET serial_number = $3 WHERE tenant_id = $1 AND id = $2`

// storeSerial stores the serial number in a unique column.
func storeSerial(ctx context.Context, tx pgx.Tx, _, d *timekeepingv1.BrazilDevice) error {
	_, err := tx.Exec(ctx, setSerial, tenant.Of(ctx), d.GetId(), d.GetSerialNumber())
	if pgerr.IsUnique(err, "brazil_device_serial_number") {
		return fault.Invalid(CodeTaken, fmt.Sprintf("Another device has the serialNumber %s.", d.GetSerialNumber()))
	}
	return err
}

const deviceGroups = `
SELECT m.device_id, g.id, g.name FROM brazil_device_member m
JOIN brazil_device_group g ON g.tenant_id = m.tenant_id AND g.id = m.group_id
WHERE m.tenant_id = $1 AND m.device_id = ANY($2)`

// checkDeviceUnused returns an error if a device is in a group or has files, so that it cannot be
// deleted.
func checkDeviceUnused(ctx context.Context, tx pgx.Tx, d *timekeepingv1.BrazilDevice) error {
	tenantID := tenant.Of(ctx)
	groups, err := readRefs(ctx, tx, deviceGroups, tenantID, []int64{d.GetId()})
	if err != nil {
		return err
	}
	if in := groups[d.GetId()]; len(in) > 0 {
		return fault.Invalid(CodeInUse, fmt.Sprintf("The device %q is in the group %q.", d.GetName(), in[0].GetQualifier()))
	}
	var files int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM brazil_afd_file WHERE tenant_id = $1 AND device_id = $2`, tenantID, d.GetId()).Scan(&files); err != nil {
		return fmt.Errorf("brazil: count files: %w", err)
	}
	if files > 0 {
		return fault.Invalid(CodeInUse, fmt.Sprintf("There are %d files of the device %q, and the law requires you to keep them.", files, d.GetName()))
	}
	return nil
}

// show fills in the groups of devices.
func (h *Devices) show(ctx context.Context, list ...*timekeepingv1.BrazilDevice) error {
	return showRefs(ctx, h.resource.Pool, deviceGroups, list, func(d *timekeepingv1.BrazilDevice, groups []*commonv1.Ref) {
		d.DeviceGroup = groups[0]
	})
}

// ListBrazilDevices returns the devices by name, or the requested one.
func (h *Devices) ListBrazilDevices(ctx context.Context, req *timekeepingv1.ListBrazilDevicesRequest) (*timekeepingv1.BrazilDeviceList, error) {
	list, err := h.resource.List(ctx, req.Id, req.Name)
	if err != nil {
		return nil, err
	}
	list = filterUnassigned(list, req.Select, func(d *timekeepingv1.BrazilDevice) bool { return d.GetDeviceGroup() != nil })
	return &timekeepingv1.BrazilDeviceList{Items: list}, nil
}

// GetBrazilDevice returns one device, or 404.
func (h *Devices) GetBrazilDevice(ctx context.Context, req *timekeepingv1.GetBrazilDeviceRequest) (*timekeepingv1.BrazilDevice, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateBrazilDevice stores a new device.
func (h *Devices) CreateBrazilDevice(ctx context.Context, req *timekeepingv1.BrazilDevice) (*timekeepingv1.BrazilDevice, error) {
	return h.resource.Create(ctx, req)
}

// UpdateBrazilDevice replaces a device. It stays in its group.
func (h *Devices) UpdateBrazilDevice(ctx context.Context, req *timekeepingv1.UpdateBrazilDeviceRequest) (*timekeepingv1.BrazilDevice, error) {
	d, err := h.resource.Update(ctx, req.GetId(), req.GetBody())
	if err != nil {
		return nil, err
	}
	return d, h.show(ctx, d)
}

// DeleteBrazilDevice deletes a device that belongs to no group and has no files.
func (h *Devices) DeleteBrazilDevice(ctx context.Context, req *timekeepingv1.DeleteBrazilDeviceRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

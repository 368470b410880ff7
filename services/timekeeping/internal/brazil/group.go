package brazil

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func groupKind() *setup.Kind[*timekeepingv1.BrazilDeviceGroup] {
	return setup.NewKind(setup.Declaration[*timekeepingv1.BrazilDeviceGroup]{
		Codes: codes(),
		What:  "device group",
		Table: "brazil_device_group",
		Strip: func(g *timekeepingv1.BrazilDeviceGroup) { g.Devices = nil },
	})
}

// Groups serves BrazilDeviceGroupService.
type Groups struct {
	timekeepingv1.UnsafeBrazilDeviceGroupServiceServer
	resource setup.Resource[*timekeepingv1.BrazilDeviceGroup]
}

var _ timekeepingv1.BrazilDeviceGroupServiceServer = (*Groups)(nil)

// NewGroups returns Groups in the database of the pool.
func NewGroups(pool *pg.Pool) *Groups {
	h := &Groups{}
	h.resource = setup.Resource[*timekeepingv1.BrazilDeviceGroup]{
		Kind: groupKind(), Pool: pool, AfterStore: h.fill, Show: h.show, CheckUnused: checkGroupUnused,
	}
	return h
}

const (
	emptyGroup = `DELETE FROM brazil_device_member WHERE tenant_id = $1 AND group_id = $2`
	fillGroup  = `
INSERT INTO brazil_device_member (tenant_id, device_id, group_id) SELECT $1, unnest($3::bigint[]), $2
ON CONFLICT (tenant_id, device_id) DO NOTHING RETURNING device_id`

	groupDevices = `
SELECT m.group_id, d.id, d.name FROM brazil_device_member m
JOIN brazil_device d ON d.tenant_id = m.tenant_id AND d.id = m.device_id
WHERE m.tenant_id = $1 AND m.group_id = ANY($2) ORDER BY lower(d.name)`

	groupCompanies = `
SELECT o.group_id, c.id, c.name FROM brazil_group_owner o
JOIN brazil_company c ON c.tenant_id = o.tenant_id AND c.id = o.company_id
WHERE o.tenant_id = $1 AND o.group_id = ANY($2)`
)

// fill puts the devices of the request into a group, and removes all others from it.
func (h *Groups) fill(ctx context.Context, tx pgx.Tx, given, stored *timekeepingv1.BrazilDeviceGroup) error {
	tenantID := tenant.Of(ctx)
	var ids []int64
	if refs := given.GetDevices(); len(refs) > 0 {
		devices, err := deviceKind().Read(ctx, tx, "devices", refs)
		if err != nil {
			return err
		}
		seen := map[int64]bool{}
		for i, d := range devices {
			if seen[d.GetId()] {
				return invalid("devices[%d] names the device %q a second time", i, d.GetName())
			}
			seen[d.GetId()] = true
			ids = append(ids, d.GetId())
		}
	}
	if _, err := tx.Exec(ctx, emptyGroup, tenantID, stored.GetId()); err != nil {
		return fmt.Errorf("brazil: empty a group: %w", err)
	}
	rows, err := tx.Query(ctx, fillGroup, tenantID, stored.GetId(), ids)
	if err != nil {
		return fmt.Errorf("brazil: fill a group: %w", err)
	}
	put, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	switch {
	case pgerr.IsForeignKey(err, "brazil_device_member_device"):
		return fault.Invalid(CodeUnknown, "One of the devices no longer exists.")
	case err != nil:
		return fmt.Errorf("brazil: fill a group: %w", err)
	case len(put) < len(ids):
		return otherGroup(ctx, tx, stored.GetId(), ids)
	}
	in, err := readRefs(ctx, tx, groupDevices, tenantID, []int64{stored.GetId()})
	stored.Devices = in[stored.GetId()]
	return err
}

// otherGroup returns the error for devices if at least one of them is in another group.
func otherGroup(ctx context.Context, tx pgx.Tx, group int64, ids []int64) error {
	groups, err := readRefs(ctx, tx, deviceGroups, tenant.Of(ctx), ids)
	if err != nil {
		return err
	}
	for i, id := range ids {
		for _, in := range groups[id] {
			if in.GetId() != group {
				return fault.Invalid(CodeOtherGroup, fmt.Sprintf("devices[%d] is in the group %q already.", i, in.GetQualifier()))
			}
		}
	}
	return fault.Invalid(CodeOtherGroup, "One of the devices is in another group already.")
}

// checkGroupUnused returns an error if a company has the group, so that it cannot be deleted.
func checkGroupUnused(ctx context.Context, tx pgx.Tx, g *timekeepingv1.BrazilDeviceGroup) error {
	owners, err := readRefs(ctx, tx, groupCompanies, tenant.Of(ctx), []int64{g.GetId()})
	if err == nil && len(owners[g.GetId()]) > 0 {
		err = fault.Invalid(CodeInUse, fmt.Sprintf("The device group %q belongs to the company %q.", g.GetName(), owners[g.GetId()][0].GetQualifier()))
	}
	return err
}

// ListBrazilDeviceGroups returns the groups by name, or the requested one.
func (h *Groups) ListBrazilDeviceGroups(ctx context.Context, req *timekeepingv1.ListBrazilDeviceGroupsRequest) (*timekeepingv1.BrazilDeviceGroupList, error) {
	list, err := h.resource.List(ctx, req.Id, req.Name)
	if err != nil {
		return nil, err
	}
	owned := map[int64]bool{}
	err = showRefs(ctx, h.resource.Pool, groupCompanies, list, func(g *timekeepingv1.BrazilDeviceGroup, _ []*commonv1.Ref) {
		owned[g.GetId()] = true
	})
	if err != nil {
		return nil, err
	}
	list = filterUnassigned(list, req.Select, func(g *timekeepingv1.BrazilDeviceGroup) bool { return owned[g.GetId()] })
	return &timekeepingv1.BrazilDeviceGroupList{Items: list}, nil
}

// show fills in the devices of groups.
func (h *Groups) show(ctx context.Context, list ...*timekeepingv1.BrazilDeviceGroup) error {
	return showRefs(ctx, h.resource.Pool, groupDevices, list, func(g *timekeepingv1.BrazilDeviceGroup, devices []*commonv1.Ref) {
		g.Devices = devices
	})
}

// GetBrazilDeviceGroup returns one group, or 404.
func (h *Groups) GetBrazilDeviceGroup(ctx context.Context, req *timekeepingv1.GetBrazilDeviceGroupRequest) (*timekeepingv1.BrazilDeviceGroup, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateBrazilDeviceGroup stores a new group with its devices.
func (h *Groups) CreateBrazilDeviceGroup(ctx context.Context, req *timekeepingv1.BrazilDeviceGroup) (*timekeepingv1.BrazilDeviceGroup, error) {
	return h.resource.Create(ctx, req)
}

// UpdateBrazilDeviceGroup replaces a group. Devices that the request does not name leave the group.
func (h *Groups) UpdateBrazilDeviceGroup(ctx context.Context, req *timekeepingv1.UpdateBrazilDeviceGroupRequest) (*timekeepingv1.BrazilDeviceGroup, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteBrazilDeviceGroup deletes a group that no company has. Its devices stay.
func (h *Groups) DeleteBrazilDeviceGroup(ctx context.Context, req *timekeepingv1.DeleteBrazilDeviceGroupRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

package device

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	udmv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/udm/v1"
)

func groupKind() *setup.Kind[*udmv1.DeviceGroup] {
	return setup.NewKind(setup.Declaration[*udmv1.DeviceGroup]{Codes: codes(), What: "device group", Table: "device_group"})
}

// Groups serves DeviceGroupService.
type Groups struct {
	udmv1.UnsafeDeviceGroupServiceServer
	resource setup.Resource[*udmv1.DeviceGroup]
}

var _ udmv1.DeviceGroupServiceServer = (*Groups)(nil)

// NewGroups returns Groups in the database of the pool. The persons of the groups are in commons.
func NewGroups(pool *pg.Pool, members commonsv1.DeviceGroupMemberServiceClient) *Groups {
	return &Groups{resource: setup.Resource[*udmv1.DeviceGroup]{
		Kind: groupKind(), Pool: pool, AfterStore: publishStored, AfterDelete: publishDeleted,
		BeforeDelete: func(ctx context.Context, g *udmv1.DeviceGroup) error {
			used, err := members.FindDeviceGroupUse(ctx, &commonsv1.FindDeviceGroupUseRequest{DeviceGroupId: g.GetId()})
			if err != nil {
				return fmt.Errorf("find persons of device group %d: %w", g.GetId(), err)
			}
			if used.GetPersonNumber() != "" {
				return groupKind().InUseError(fmt.Sprintf("The person %q", used.GetPersonNumber()), g)
			}
			return nil
		},
	}}
}

// ListDeviceGroups returns the device groups by name, or the requested one.
func (h *Groups) ListDeviceGroups(ctx context.Context, req *udmv1.ListDeviceGroupsRequest) (*udmv1.DeviceGroupList, error) {
	list, err := h.resource.List(ctx, nil, req.Name)
	return &udmv1.DeviceGroupList{Items: list}, err
}

// GetDeviceGroup returns one device group, or 404.
func (h *Groups) GetDeviceGroup(ctx context.Context, req *udmv1.GetDeviceGroupRequest) (*udmv1.DeviceGroup, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateDeviceGroup stores a new device group.
func (h *Groups) CreateDeviceGroup(ctx context.Context, req *udmv1.DeviceGroup) (*udmv1.DeviceGroup, error) {
	return h.resource.Create(ctx, req)
}

// UpdateDeviceGroup replaces a device group.
func (h *Groups) UpdateDeviceGroup(ctx context.Context, req *udmv1.UpdateDeviceGroupRequest) (*udmv1.DeviceGroup, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteDeviceGroup deletes a device group that nothing refers to.
func (h *Groups) DeleteDeviceGroup(ctx context.Context, req *udmv1.DeleteDeviceGroupRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

// MultiReadDeviceGroups returns the named device groups, in the order of the request.
func (h *Groups) MultiReadDeviceGroups(ctx context.Context, req *udmv1.MultiReadDeviceGroupsRequest) (*udmv1.DeviceGroupList, error) {
	const path = "where.deviceGroups"
	refs, err := reflist.ExactlyOne(CodeInvalid, path, req.GetWhere().GetDeviceGroups())
	if err != nil {
		return nil, err
	}
	list, err := h.resource.Read(ctx, path, refs)
	return &udmv1.DeviceGroupList{Items: list}, err
}

// ListDeviceGroupNames returns the ids and the names of all device groups, by name.
func (h *Groups) ListDeviceGroupNames(ctx context.Context, _ *udmv1.ListDeviceGroupNamesRequest) (*udmv1.DeviceGroupNameList, error) {
	list, err := h.resource.List(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	out := &udmv1.DeviceGroupNameList{}
	for _, g := range list {
		out.Items = append(out.Items, &udmv1.DeviceGroupName{Id: g.GetId(), Name: g.GetName()})
	}
	return out, nil
}

// Package schedulegroup manages schedule groups: employees who are scheduled together.
package schedulegroup

import (
	"cmp"
	"context"
	"log/slog"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/domain/personreference"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/setup"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Error codes of the reference product.
const (
	// CodeUnknown (400, 404): there is no such schedule group.
	CodeUnknown = "WFS-106601"
	// CodeSeveral (400): the request uses more than one list of groups.
	CodeSeveral = "WFS-106611"
)

// Error codes of our own, with status 400.
const (
	// CodeInvalid: a property has a value that is not allowed.
	CodeInvalid = "WRL-30801"
	// CodeMissing: a required value is missing.
	CodeMissing = "WRL-30802"
	// CodeTaken: another group has the name or the persistent id. Choose another one.
	CodeTaken = "WRL-30803"
	// CodeOtherID: the id in the body differs from the id in the path.
	CodeOtherID = "WRL-30804"
	// CodeInUse: persons have the group to delete. Give them another group, or none.
	CodeInUse = "WRL-30805"
)

func kind() *setup.Kind[*schedulingv1.ScheduleGroup] {
	return setup.NewKind(setup.Declaration[*schedulingv1.ScheduleGroup]{
		Codes:  setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeOtherID, InUse: CodeInUse},
		What:   "schedule group",
		Table:  "schedule_group",
		Unique: []string{"persistent_id"},
	})
}

// Handler serves ScheduleGroupService.
type Handler struct {
	schedulingv1.UnsafeScheduleGroupServiceServer
	resource setup.Resource[*schedulingv1.ScheduleGroup]
	persons  *personreference.Follower
}

var _ schedulingv1.ScheduleGroupServiceServer = (*Handler)(nil)

// New returns a Handler that stores schedule groups in the database of the pool. The persons follow the
// names of their groups.
func New(pool *pg.Pool, persons personreference.Client, log *slog.Logger) *Handler {
	h := &Handler{persons: personreference.New(pool, persons, log, reference)}
	h.resource = setup.Resource[*schedulingv1.ScheduleGroup]{Kind: kind(), Pool: pool, Prepare: prepare, Check: h.keepFormer, BeforeDelete: h.checkNoPerson}
	return h
}

// prepare sets the defaults of a group.
func prepare(_ string, g *schedulingv1.ScheduleGroup) (*schedulingv1.ScheduleGroup, error) {
	if g.Active == nil {
		g.Active = proto.Bool(true)
	}
	g.Inheritance = proto.Bool(g.GetInheritance())
	return g, nil
}

// ListScheduleGroups returns a page of the schedule groups by name, or the requested one.
func (h *Handler) ListScheduleGroups(ctx context.Context, req *schedulingv1.ListScheduleGroupsRequest) (*schedulingv1.ScheduleGroupList, error) {
	byCursor, err := cursor.Read[int64](req, "index")
	if err != nil {
		return nil, err
	}
	list, err := h.resource.List(ctx, req.Id, req.Qualifier)
	if err != nil {
		return nil, err
	}
	if byCursor != nil {
		size := len(list)
		if req.Count != nil {
			size = int(req.GetCount())
		}
		page, next := cursor.Pick(byCursor, list, size, (*schedulingv1.ScheduleGroup).GetId, cmp.Compare[int64])
		return toList(page, req.AllDetails), rpc.SetNextPage(ctx, next)
	}
	list = list[min(int(req.GetIndex()), len(list)):]
	if req.Count != nil {
		list = list[:min(int(req.GetCount()), len(list))]
	}
	return toList(list, req.AllDetails), nil
}

// toList returns the groups, with only their ids and names if details are declined.
func toList(list []*schedulingv1.ScheduleGroup, all *bool) *schedulingv1.ScheduleGroupList {
	if all != nil && !*all {
		for i, g := range list {
			list[i] = &schedulingv1.ScheduleGroup{Id: g.Id, Name: g.GetName()}
		}
	}
	return &schedulingv1.ScheduleGroupList{Items: list}
}

// MultiReadScheduleGroups returns the requested groups in the order of the request, or all groups
// without a request.
func (h *Handler) MultiReadScheduleGroups(ctx context.Context, req *schedulingv1.MultiReadScheduleGroupsRequest) (*schedulingv1.ScheduleGroupList, error) {
	const path = "where.scheduleGroups"
	requested := req.GetWhere().GetScheduleGroups()
	refs, err := reflist.AtMostOne(CodeSeveral, path, requested)
	if err != nil {
		return nil, err
	}
	var list []*schedulingv1.ScheduleGroup
	if ids := requested.GetPersistentIds(); len(ids) > 0 {
		list, err = h.resource.ReadUnique(ctx, path+".persistentIds", "persistent_id", ids)
	} else {
		list, err = h.resource.Read(ctx, path, refs)
	}
	if err != nil {
		return nil, err
	}
	if where := req.GetWhere(); where != nil {
		return toList(list, where.AllDetails), nil
	}
	return toList(list, nil), nil
}

// GetScheduleGroup returns one schedule group, or the error 404.
func (h *Handler) GetScheduleGroup(ctx context.Context, req *schedulingv1.GetScheduleGroupRequest) (*schedulingv1.ScheduleGroup, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateScheduleGroup stores a new schedule group.
func (h *Handler) CreateScheduleGroup(ctx context.Context, req *schedulingv1.ScheduleGroup) (*schedulingv1.ScheduleGroup, error) {
	return h.resource.Create(ctx, req)
}

// UpdateScheduleGroup replaces a schedule group, and lets the persons follow a new name. The response does
// not fail if commons is away: the persons follow later.
func (h *Handler) UpdateScheduleGroup(ctx context.Context, req *schedulingv1.UpdateScheduleGroupRequest) (*schedulingv1.ScheduleGroup, error) {
	out, err := h.resource.Update(ctx, req.GetId(), req.GetBody())
	if err != nil {
		return nil, err
	}
	h.persons.Follow(ctx, reference, req.GetId())
	return out, nil
}

// DeleteScheduleGroup deletes a schedule group that no person has, or returns the error 404.
func (h *Handler) DeleteScheduleGroup(ctx context.Context, req *schedulingv1.DeleteScheduleGroupRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

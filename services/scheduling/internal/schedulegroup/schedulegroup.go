// Package schedulegroup keeps schedule groups: who is scheduled together.
package schedulegroup

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/namedstore"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Codes of the reference product.
const (
	// CodeUnknown (400, 404): there is no such schedule group.
	CodeUnknown = "WFS-106601"
	// CodeSeveral (400): groups are named by more than one list.
	CodeSeveral = "WFS-106611"
)

// Codes of ours, with status 400.
const (
	// CodeInvalid: a value is not one that its property may have.
	CodeInvalid = "WRL-30801"
	// CodeMissing: something that is needed was not given.
	CodeMissing = "WRL-30802"
	// CodeTaken: another group has the name, or the persistent id.
	CodeTaken = "WRL-30803"
	// CodeOtherID: the id in the body is not the one in the path.
	CodeOtherID = "WRL-30804"
)

func codes() namedstore.Codes {
	return namedstore.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeOtherID}
}

// Handler serves ScheduleGroupService.
type Handler struct {
	schedulingv1.UnsafeScheduleGroupServiceServer
	resource namedstore.Resource[*schedulingv1.ScheduleGroup]
}

var _ schedulingv1.ScheduleGroupServiceServer = (*Handler)(nil)

// New returns a Handler that keeps schedule groups in the database of the pool.
func New(pool *pg.Pool) *Handler {
	store := namedstore.NewStore(namedstore.Kind[*schedulingv1.ScheduleGroup]{
		Codes: codes(),
		What:  "schedule group",
		Table: "schedule_group",
	})
	h := &Handler{}
	h.resource = namedstore.Resource[*schedulingv1.ScheduleGroup]{Store: store, Pool: pool, Prepare: prepare, Within: h.distinct}
	return h
}

// prepare checks a group, and completes what it leaves out.
func prepare(g *schedulingv1.ScheduleGroup) (*schedulingv1.ScheduleGroup, error) {
	if err := codes().CheckName("scheduleGroup", g.GetName()); err != nil {
		return nil, err
	}
	if g.Active == nil {
		g.Active = proto.Bool(true)
	}
	g.Inheritance = proto.Bool(g.GetInheritance())
	return g, nil
}

// lock has those who give groups of a tenant persistent ids take turns.
const lock advisory.Lock = "persistent ids of schedule groups"

// distinct refuses a persistent id that another group has.
func (h *Handler) distinct(ctx context.Context, tx pgx.Tx, tenantID, id int64, g *schedulingv1.ScheduleGroup) error {
	return h.resource.Store.Distinct(ctx, tx, tenantID, id, lock, "persistentId", g, (*schedulingv1.ScheduleGroup).GetPersistentId)
}

// ListScheduleGroups returns a page of the schedule groups by name, or the one
// that is asked for.
func (h *Handler) ListScheduleGroups(ctx context.Context, req *schedulingv1.ListScheduleGroupsRequest) (*schedulingv1.ScheduleGroupList, error) {
	list, err := h.resource.List(ctx, req.Id, req.Qualifier)
	if err != nil {
		return nil, err
	}
	list = list[min(int(req.GetIndex()), len(list)):]
	if req.Count != nil {
		list = list[:min(int(req.GetCount()), len(list))]
	}
	return detailed(list, req.AllDetails), nil
}

// detailed leaves the ids and names of groups when only they are wanted.
func detailed(list []*schedulingv1.ScheduleGroup, all *bool) *schedulingv1.ScheduleGroupList {
	if all != nil && !*all {
		for i, g := range list {
			list[i] = &schedulingv1.ScheduleGroup{Id: g.Id, Name: g.GetName()}
		}
	}
	return &schedulingv1.ScheduleGroupList{Items: list}
}

// MultiReadScheduleGroups returns the groups that are named, in that order; all
// when none are.
func (h *Handler) MultiReadScheduleGroups(ctx context.Context, req *schedulingv1.MultiReadScheduleGroupsRequest) (*schedulingv1.ScheduleGroupList, error) {
	named := req.GetWhere().GetScheduleGroups()
	if reflist.CountKinds(named) > 1 {
		return nil, fault.Invalid(CodeSeveral, "where.scheduleGroups takes only one of ids, qualifiers, persistentIds and refs.")
	}
	tenantID := tenant.Of(ctx)
	list, err := h.resource.Store.Read(ctx, h.resource.Pool, tenantID, "where.scheduleGroups", reflist.Refs(named))
	if err == nil && len(named.GetPersistentIds()) > 0 {
		list, err = byPersistentID(list, named.GetPersistentIds())
	}
	if err != nil {
		return nil, err
	}
	if where := req.GetWhere(); where != nil {
		return detailed(list, where.AllDetails), nil
	}
	return detailed(list, nil), nil
}

func byPersistentID(all []*schedulingv1.ScheduleGroup, wanted []string) ([]*schedulingv1.ScheduleGroup, error) {
	known := make(map[string]*schedulingv1.ScheduleGroup, len(all))
	for _, g := range all {
		if g.GetPersistentId() != "" {
			known[g.GetPersistentId()] = g
		}
	}
	out := make([]*schedulingv1.ScheduleGroup, 0, len(wanted))
	for i, id := range wanted {
		if known[id] == nil {
			return nil, fault.Invalid(CodeUnknown, fmt.Sprintf("The schedule group with the persistentId %.100q (where.scheduleGroups.persistentIds[%d]) does not exist.", id, i))
		}
		out = append(out, known[id])
	}
	return out, nil
}

// GetScheduleGroup returns one schedule group, or 404.
func (h *Handler) GetScheduleGroup(ctx context.Context, req *schedulingv1.GetScheduleGroupRequest) (*schedulingv1.ScheduleGroup, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateScheduleGroup stores a new schedule group.
func (h *Handler) CreateScheduleGroup(ctx context.Context, req *schedulingv1.ScheduleGroup) (*schedulingv1.ScheduleGroup, error) {
	return h.resource.Create(ctx, req)
}

// UpdateScheduleGroup replaces a schedule group.
func (h *Handler) UpdateScheduleGroup(ctx context.Context, req *schedulingv1.UpdateScheduleGroupRequest) (*schedulingv1.ScheduleGroup, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteScheduleGroup deletes a schedule group, or returns 404.
func (h *Handler) DeleteScheduleGroup(ctx context.Context, req *schedulingv1.DeleteScheduleGroupRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

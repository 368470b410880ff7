package scheduleitem

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemchange"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// ScheduleTags serves ScheduleTagService.
type ScheduleTags struct {
	schedulingv1.UnsafeScheduleTagServiceServer

	tags *itemchange.Editor[*schedulingv1.ScheduleTag]
}

var _ schedulingv1.ScheduleTagServiceServer = (*ScheduleTags)(nil)

// NewScheduleTags returns the handler of ScheduleTagService.
func NewScheduleTags(deps Deps) *ScheduleTags {
	return &ScheduleTags{tags: &itemchange.Editor[*schedulingv1.ScheduleTag]{
		Deps: deps.editorDeps(), Kind: itemstore.KindScheduleTag, Label: "schedule tag",
		Complete: itemdraft.CompleteScheduleTags(deps.Pool),
		Draft:    itemdraft.ScheduleTag,
		Jobs:     jobsOfTag,
		Make:     func() *schedulingv1.ScheduleTag { return &schedulingv1.ScheduleTag{} },
		Fill: func(t *schedulingv1.ScheduleTag, id int64, employee *projection.Employee, version int64, _ bool) {
			t.Id, t.Version, t.Employee = proto.Int64(id), proto.Int64(version), itemdraft.NewRef(employee)
		},
		Version:   func(sent *schedulingv1.ScheduleTag) *int64 { return sent.Version },
		Generated: (*reading.Generated).IsTag,
		Show: func(g *reading.Generated, employee *projection.Employee) (*schedulingv1.ScheduleTag, error) {
			return g.Tag(employee.Zone)
		},
	}}
}

// jobsOfTag returns the jobs of the segments of a tag.
func jobsOfTag(sent *schedulingv1.ScheduleTag) []*commonv1.Ref {
	var jobs []*commonv1.Ref
	for _, s := range sent.GetSegments() {
		jobs = append(jobs, s.GetOrgJobRef())
	}
	return jobs
}

// GetScheduleTag returns one schedule tag.
func (h *ScheduleTags) GetScheduleTag(ctx context.Context, req *schedulingv1.GetScheduleTagRequest) (*schedulingv1.ScheduleTag, error) {
	return h.tags.ReadOne(ctx, req.GetId(), http.StatusNotFound)
}

// UpdateScheduleTag replaces one schedule tag.
func (h *ScheduleTags) UpdateScheduleTag(ctx context.Context, req *schedulingv1.UpdateScheduleTagRequest) (*schedulingv1.ScheduleTag, error) {
	return h.tags.Update(ctx, req.GetId(), req.GetScheduleTag())
}

// DeleteScheduleTag deletes one schedule tag. If a version is given, it must match.
func (h *ScheduleTags) DeleteScheduleTag(ctx context.Context, req *schedulingv1.DeleteScheduleTagRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, h.tags.Remove(ctx, []int64{req.GetId()}, req.Version, http.StatusNotFound)
}

// CreateScheduleTag creates one schedule tag.
func (h *ScheduleTags) CreateScheduleTag(ctx context.Context, req *schedulingv1.ScheduleTag) (*schedulingv1.ScheduleTagList, error) {
	return h.create(ctx, []*schedulingv1.ScheduleTag{req}, false)
}

// MultiCreateScheduleTags creates schedule tags: all or none or, with partial success, the valid
// ones.
func (h *ScheduleTags) MultiCreateScheduleTags(ctx context.Context, req *schedulingv1.MultiCreateScheduleTagsRequest) (*schedulingv1.ScheduleTagList, error) {
	return h.create(ctx, req.GetBody().GetScheduleTags(), req.GetPartialSuccess())
}

func (h *ScheduleTags) create(ctx context.Context, sent []*schedulingv1.ScheduleTag, partial bool) (*schedulingv1.ScheduleTagList, error) {
	done, failure, err := h.tags.RunBulk(ctx, sent, partial, h.tags.Create)
	return &schedulingv1.ScheduleTagList{ScheduleTags: done, Failure: failure}, err
}

// MultiUpdateScheduleTags replaces schedule tags: all or none or, with partial success, the valid
// ones.
func (h *ScheduleTags) MultiUpdateScheduleTags(ctx context.Context, req *schedulingv1.MultiUpdateScheduleTagsRequest) (*schedulingv1.ScheduleTagList, error) {
	sent := req.GetBody().GetScheduleTags()
	done, failure, err := h.tags.RunBulk(ctx, sent, req.GetPartialSuccess(), h.tags.UpdateMany)
	return &schedulingv1.ScheduleTagList{ScheduleTags: done, Failure: failure}, err
}

// MultiReadScheduleTags returns schedule tags in the order of the ids. Unknown ids are failures
// among the results.
func (h *ScheduleTags) MultiReadScheduleTags(ctx context.Context, req *schedulingv1.MultiReadScheduleTagsRequest) (*schedulingv1.ScheduleTagList, error) {
	done, failure, err := h.tags.ReadMany(ctx, "where.scheduleTagIds", req.GetWhere().GetScheduleTagIds())
	return &schedulingv1.ScheduleTagList{ScheduleTags: done, Failure: failure}, err
}

// MultiDeleteScheduleTags deletes schedule tags, all or none.
func (h *ScheduleTags) MultiDeleteScheduleTags(ctx context.Context, req *schedulingv1.MultiDeleteScheduleTagsRequest) (*emptypb.Empty, error) {
	return h.tags.RemoveMany(ctx, "where.scheduleTagIds", req.GetWhere().GetScheduleTagIds())
}

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
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemchange"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemdraft"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleitem/itemstore"
)

// PayCodeEdits serves PayCodeEditService.
type PayCodeEdits struct {
	schedulingv1.UnsafePayCodeEditServiceServer

	edits *itemchange.Editor[*schedulingv1.PayCodeEdit]
}

var _ schedulingv1.PayCodeEditServiceServer = (*PayCodeEdits)(nil)

// NewPayCodeEdits returns the handler of PayCodeEditService.
func NewPayCodeEdits(deps Deps) *PayCodeEdits {
	return &PayCodeEdits{edits: &itemchange.Editor[*schedulingv1.PayCodeEdit]{
		Deps: deps.editorDeps(), Kind: itemstore.KindPayCodeEdit, Label: "pay code edit",
		Draft:     itemdraft.PayCodeEdit,
		Jobs:      func(sent *schedulingv1.PayCodeEdit) []*commonv1.Ref { return []*commonv1.Ref{sent.GetOrgJobRef()} },
		Make:      func() *schedulingv1.PayCodeEdit { return &schedulingv1.PayCodeEdit{} },
		Fill:      fillPayCodeEdit,
		Version:   func(sent *schedulingv1.PayCodeEdit) *int64 { return sent.Version },
		Generated: (*reading.Generated).IsPayCodeEdit,
		Show: func(g *reading.Generated, employee *projection.Employee) (*schedulingv1.PayCodeEdit, error) {
			return g.PayCodeEdit(employee.Zone, employee.PrimaryJobOn(g.Day))
		},
		Shown: bodyWithJob(window.KindPayCodeEdit),
	}}
}

func fillPayCodeEdit(e *schedulingv1.PayCodeEdit, id int64, employee *projection.Employee, version int64, locked bool) {
	e.Id, e.Version, e.Employee = proto.Int64(id), proto.Int64(version), itemdraft.NewRef(employee)
	e.Locked = proto.Bool(locked || e.GetLocked())
}

// GetPayCodeEdit returns one pay code edit.
func (h *PayCodeEdits) GetPayCodeEdit(ctx context.Context, req *schedulingv1.GetPayCodeEditRequest) (*schedulingv1.PayCodeEdit, error) {
	return h.edits.ReadOne(ctx, req.GetId(), http.StatusNotFound)
}

// UpdatePayCodeEdit replaces one pay code edit.
func (h *PayCodeEdits) UpdatePayCodeEdit(ctx context.Context, req *schedulingv1.UpdatePayCodeEditRequest) (*schedulingv1.PayCodeEdit, error) {
	return h.edits.Update(ctx, req.GetId(), req.GetPayCodeEdit())
}

// DeletePayCodeEdit deletes one pay code edit. If a version is given, it must match.
func (h *PayCodeEdits) DeletePayCodeEdit(ctx context.Context, req *schedulingv1.DeletePayCodeEditRequest) (*emptypb.Empty, error) {
	return &emptypb.Empty{}, h.edits.Remove(ctx, []int64{req.GetId()}, req.Version, http.StatusNotFound)
}

// CreatePayCodeEdit creates one pay code edit.
func (h *PayCodeEdits) CreatePayCodeEdit(ctx context.Context, req *schedulingv1.PayCodeEdit) (*schedulingv1.PayCodeEditList, error) {
	return h.create(ctx, []*schedulingv1.PayCodeEdit{req}, false)
}

// MultiCreatePayCodeEdits creates pay code edits: all or none or, with partial success, the valid
// ones.
func (h *PayCodeEdits) MultiCreatePayCodeEdits(ctx context.Context, req *schedulingv1.MultiCreatePayCodeEditsRequest) (*schedulingv1.PayCodeEditList, error) {
	return h.create(ctx, req.GetBody().GetPayCodeEdits(), req.GetPartialSuccess())
}

func (h *PayCodeEdits) create(ctx context.Context, sent []*schedulingv1.PayCodeEdit, partial bool) (*schedulingv1.PayCodeEditList, error) {
	done, failure, err := h.edits.RunBulk(ctx, sent, partial, h.edits.Create)
	return &schedulingv1.PayCodeEditList{PayCodeEdits: done, Failure: failure}, err
}

// MultiUpdatePayCodeEdits replaces pay code edits: all or none or, with partial success, the valid
// ones.
func (h *PayCodeEdits) MultiUpdatePayCodeEdits(ctx context.Context, req *schedulingv1.MultiUpdatePayCodeEditsRequest) (*schedulingv1.PayCodeEditList, error) {
	sent := req.GetBody().GetPayCodeEdits()
	done, failure, err := h.edits.RunBulk(ctx, sent, req.GetPartialSuccess(), h.edits.UpdateMany)
	return &schedulingv1.PayCodeEditList{PayCodeEdits: done, Failure: failure}, err
}

// MultiDeletePayCodeEdits deletes pay code edits, all or none.
func (h *PayCodeEdits) MultiDeletePayCodeEdits(ctx context.Context, req *schedulingv1.MultiDeletePayCodeEditsRequest) (*emptypb.Empty, error) {
	return h.edits.RemoveMany(ctx, "where.payCodeEditIds", req.GetWhere().GetPayCodeEditIds())
}

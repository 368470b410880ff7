// Package targetthreshold stores the targets of metrics, and the thresholds beyond which they are off target.
package targetthreshold

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/cursor"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/setup"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// maxPage is the largest number of target thresholds in a page by cursor, and the default.
var maxPage = policy.RangeMax[*platformv1.ListTargetThresholdsRequest]("count")

// Handler serves TargetThresholdService.
type Handler struct {
	platformv1.UnsafeTargetThresholdServiceServer
	resource setup.Resource[*platformv1.TargetThreshold]
	clock    clock.Clock
	// zone determines the beginning of the day for tenants.
	zone *time.Location
}

var _ platformv1.TargetThresholdServiceServer = (*Handler)(nil)

// New returns a Handler that stores target thresholds in the database of the pool.
func New(pool *pg.Pool, clk clock.Clock, zone *time.Location) *Handler {
	kind := setup.NewKind(setup.Declaration[*platformv1.TargetThreshold]{
		Codes: setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeOtherID},
		What:  "target threshold",
		Table: "target_threshold",
	})
	h := &Handler{clock: clk, zone: zone}
	h.resource = setup.Resource[*platformv1.TargetThreshold]{Kind: kind, Pool: pool, Prepare: prepare, CheckUnused: h.checkExpired}
	return h
}

// checkExpired refuses to delete a target threshold that has not expired on the tenant's day.
func (h *Handler) checkExpired(ctx context.Context, _ pgx.Tx, t *platformv1.TargetThreshold) error {
	today := civil.FromTime(clock.OfTenant(ctx, h.clock.Now()).In(h.zone))
	if t.GetExpirationDate() >= today.String() {
		return fault.Invalid(CodeNotExpired, fmt.Sprintf("The target threshold %d is valid until %s, and today is %s. Delete it after it has expired.", t.GetId(), t.GetExpirationDate(), today))
	}
	return nil
}

// ListTargetThresholds returns a page of summaries of target thresholds, sorted by name.
func (h *Handler) ListTargetThresholds(ctx context.Context, req *platformv1.ListTargetThresholdsRequest) (*platformv1.TargetThresholdSummaryList, error) {
	byCursor, err := cursor.Read[int64](req, "recordstartindex", "recordendindex")
	switch {
	case err != nil:
		return nil, err
	case byCursor == nil && req.Count != nil:
		return nil, fault.Invalid(CodeInvalid, `count is the size of pages by cursor. Also send after, which is "" for the first page.`)
	case req.Recordendindex != nil && req.GetRecordendindex() < req.GetRecordstartindex():
		return nil, fault.Invalid(CodeInvalid, "recordstartindex must not be less than 0, nor recordendindex less than that.")
	}
	list, err := h.resource.List(ctx, nil, req.Name)
	if err != nil {
		return nil, err
	}
	if list, err = ofType(list, "type", req.GetType()); err != nil {
		return nil, err
	}
	if byCursor != nil {
		page, next := pick(byCursor, list, req.Count)
		return summaries(page), rpc.SetNextPage(ctx, next)
	}
	if req.Recordendindex != nil {
		list = list[:min(int(req.GetRecordendindex())+1, len(list))]
	}
	return summaries(list[min(int(req.GetRecordstartindex()), len(list)):]), nil
}

// pick returns a page by cursor, of count target thresholds, and the cursor of the next page.
func pick(q *cursor.Query[int64], list []*platformv1.TargetThreshold, count *int32) (page []*platformv1.TargetThreshold, next string) {
	size := maxPage
	if count != nil {
		size = int(*count)
	}
	return cursor.Pick(q, list, size, (*platformv1.TargetThreshold).GetId, cmp.Compare[int64])
}

func summaries(list []*platformv1.TargetThreshold) *platformv1.TargetThresholdSummaryList {
	out := &platformv1.TargetThresholdSummaryList{}
	for _, t := range list {
		out.Items = append(out.Items, summary(t))
	}
	return out
}

// ofType returns the target thresholds of a type, or all of them if the type is empty.
func ofType(list []*platformv1.TargetThreshold, path, text string) ([]*platformv1.TargetThreshold, error) {
	if text == "" {
		return list, nil
	}
	wanted, err := matchWord(path, text, types())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(t *platformv1.TargetThreshold) bool { return t.GetTargetType() != wanted }), nil
}

func summary(t *platformv1.TargetThreshold) *platformv1.TargetThresholdSummary {
	out := &platformv1.TargetThresholdSummary{
		Id: t.GetId(), Name: t.GetName(), Description: t.GetDescription(), ExpirationDate: t.GetExpirationDate(),
		TargetType: t.GetTargetType(), TargetTypeDisplayText: map[string]string{"STANDARD": "Standard", "HCA": "HCA"}[t.GetTargetType()],
	}
	out.TargetFunctionType, _ = function(t.GetTargetFunction())
	kind, refs := location(t.GetTargetLocation())
	out.TargetLocationType = kind
	switch {
	case len(refs.GetIds()) > 0:
		out.TargetLocationId = proto.Int64(refs.GetIds()[0])
	case len(refs.GetQualifiers()) > 0:
		out.TargetLocationName = refs.GetQualifiers()[0]
	case len(refs.GetRefs()) > 0:
		out.TargetLocationId, out.TargetLocationName = refs.GetRefs()[0].Id, refs.GetRefs()[0].GetQualifier()
	}
	return out
}

// GetTargetThreshold returns one target threshold, or 404.
func (h *Handler) GetTargetThreshold(ctx context.Context, req *platformv1.GetTargetThresholdRequest) (*platformv1.TargetThreshold, error) {
	return h.resource.Get(ctx, req.GetId())
}

// CreateTargetThreshold stores a new target threshold.
func (h *Handler) CreateTargetThreshold(ctx context.Context, req *platformv1.TargetThreshold) (*platformv1.TargetThreshold, error) {
	return h.resource.Create(ctx, req)
}

// UpdateTargetThreshold replaces a target threshold.
func (h *Handler) UpdateTargetThreshold(ctx context.Context, req *platformv1.UpdateTargetThresholdRequest) (*platformv1.TargetThreshold, error) {
	return h.resource.Update(ctx, req.GetId(), req.GetBody())
}

// DeleteTargetThreshold deletes a target threshold that has expired, or returns 404.
func (h *Handler) DeleteTargetThreshold(ctx context.Context, req *platformv1.DeleteTargetThresholdRequest) (*emptypb.Empty, error) {
	return h.resource.Delete(ctx, req.GetId(), req.Version)
}

// MultiReadTargetThresholds returns the matching target thresholds, sorted by name.
func (h *Handler) MultiReadTargetThresholds(ctx context.Context, req *platformv1.MultiReadTargetThresholdsRequest) (*platformv1.TargetThresholdResponse, error) {
	where := req.GetWhere()
	if where == nil {
		return nil, missing("where")
	}
	list, err := h.resource.List(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	if list, err = ofType(list, "where.targetType", where.GetTargetType()); err != nil {
		return nil, err
	}
	if len(where.GetIds())+len(where.GetQualifiers()) > 0 {
		list = slices.DeleteFunc(list, func(t *platformv1.TargetThreshold) bool {
			return !slices.Contains(where.GetIds(), t.GetId()) &&
				!slices.ContainsFunc(where.GetQualifiers(), func(name string) bool { return strings.EqualFold(name, t.GetName()) })
		})
	}
	slices.SortStableFunc(list, func(a, b *platformv1.TargetThreshold) int {
		return cmp.Compare(strings.ToLower(a.GetName()), strings.ToLower(b.GetName()))
	})
	return &platformv1.TargetThresholdResponse{RequestPayload: where, TargetResponse: list}, nil
}

// MultiUpsertTargetThresholds replaces the existing target thresholds and creates the others: all or none, or
// each separately with partial_success.
func (h *Handler) MultiUpsertTargetThresholds(ctx context.Context, req *platformv1.MultiUpsertTargetThresholdsRequest) (*platformv1.TargetThresholdList, error) {
	stored, failure, err := h.resource.UpsertMany(ctx, req.GetBody().GetItems(), req.GetPartialSuccess())
	return &platformv1.TargetThresholdList{Items: stored, Failure: failure}, err
}

// ListEvaluationPeriods returns the evaluation periods.
func (h *Handler) ListEvaluationPeriods(context.Context, *platformv1.ListEvaluationPeriodsRequest) (*platformv1.EvaluationPeriodList, error) {
	return &platformv1.EvaluationPeriodList{Items: evaluationPeriods()}, nil
}

// ListThresholdOperators returns the operators of thresholds.
func (h *Handler) ListThresholdOperators(context.Context, *platformv1.ListThresholdOperatorsRequest) (*platformv1.ThresholdOperatorList, error) {
	return &platformv1.ThresholdOperatorList{Items: operators()}, nil
}

// ListIndicatorTexts returns the texts that thresholds usually show.
func (h *Handler) ListIndicatorTexts(context.Context, *platformv1.ListIndicatorTextsRequest) (*platformv1.IndicatorTextList, error) {
	return &platformv1.IndicatorTextList{Items: indicatorTexts()}, nil
}

// ListMetricSets returns the metric sets.
func (h *Handler) ListMetricSets(context.Context, *platformv1.ListMetricSetsRequest) (*platformv1.MetricSetList, error) {
	return &platformv1.MetricSetList{Items: metricSets()}, nil
}

// ListTargetThresholdShortNames returns the target thresholds with a short name.
func (h *Handler) ListTargetThresholdShortNames(ctx context.Context, req *platformv1.ListTargetThresholdShortNamesRequest) (*platformv1.TargetThresholdResponse, error) {
	list, err := h.resource.List(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	if list, err = ofType(list, "targetType", req.GetTargetType()); err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(t *platformv1.TargetThreshold) bool { return t.GetShortName() == "" })
	slices.SortStableFunc(list, func(a, b *platformv1.TargetThreshold) int {
		return cmp.Compare(strings.ToLower(a.GetShortName()), strings.ToLower(b.GetShortName()))
	})
	return &platformv1.TargetThresholdResponse{RequestPayload: &platformv1.TargetThresholdWhere{TargetType: req.GetTargetType()}, TargetResponse: list}, nil
}

// ExportTargetThresholds returns a page of the target thresholds of a type.
func (h *Handler) ExportTargetThresholds(ctx context.Context, req *platformv1.ExportTargetThresholdsRequest) (*platformv1.TargetThresholdExport, error) {
	byCursor, err := cursor.Read[int64](req, "index")
	switch {
	case err != nil:
		return nil, err
	case req.GetTargetType() == "":
		return nil, missing("targetType")
	case byCursor == nil && req.Index == nil:
		return nil, missing("index")
	case req.Count == nil:
		return nil, missing("count")
	}
	list, err := h.resource.List(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	if list, err = ofType(list, "targetType", req.GetTargetType()); err != nil {
		return nil, err
	}
	if byCursor != nil {
		page, next := pick(byCursor, list, req.Count)
		return &platformv1.TargetThresholdExport{Records: page, Next: next}, nil
	}
	list = list[min(int(req.GetIndex()), len(list)):]
	return &platformv1.TargetThresholdExport{Records: list[:min(int(req.GetCount()), len(list))]}, nil
}

package leavesetup

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Handler serves LeaveSetupService.
type Handler struct {
	timekeepingv1.UnsafeLeaveSetupServiceServer
}

// New returns a Handler.
func New() *Handler { return &Handler{} }

// matchesName reports whether an entry has a name, without regard to case. Every entry matches "".
func (e Entry) matchesName(name string) bool { return name == "" || strings.EqualFold(e.Name, name) }

// ListLeaveCategories returns all categories, or the one with a name.
func (*Handler) ListLeaveCategories(_ context.Context, req *timekeepingv1.ListLeaveCategoriesRequest) (*timekeepingv1.LeaveCategoryList, error) {
	out := &timekeepingv1.LeaveCategoryList{}
	for _, e := range Categories() {
		if e.matchesName(req.GetName()) {
			out.LeaveCategories = append(out.LeaveCategories, e.category())
		}
	}
	return out, nil
}

// GetLeaveCategory returns the category with the id in the path.
func (*Handler) GetLeaveCategory(_ context.Context, req *timekeepingv1.GetLeaveCategoryRequest) (*timekeepingv1.LeaveCategory, error) {
	e, err := byID(Categories(), "category", req.GetId())
	if err != nil {
		return nil, err
	}
	return e.category(), nil
}

// ListLeaveReasons returns all reasons, or the one with a name.
func (*Handler) ListLeaveReasons(_ context.Context, req *timekeepingv1.ListLeaveReasonsRequest) (*timekeepingv1.LeaveReasonList, error) {
	out := &timekeepingv1.LeaveReasonList{}
	for _, e := range Reasons() {
		if e.matchesName(req.GetName()) {
			out.LeaveReasons = append(out.LeaveReasons, e.reason())
		}
	}
	return out, nil
}

// GetLeaveReason returns the reason with the id in the path.
func (*Handler) GetLeaveReason(_ context.Context, req *timekeepingv1.GetLeaveReasonRequest) (*timekeepingv1.LeaveReason, error) {
	e, err := byID(Reasons(), "reason", req.GetId())
	if err != nil {
		return nil, err
	}
	return e.reason(), nil
}

// ListLeaveCaseStatuses returns the statuses of cases.
func (*Handler) ListLeaveCaseStatuses(context.Context, *timekeepingv1.ListLeaveCaseStatusesRequest) (*timekeepingv1.LeaveCaseStatusList, error) {
	out := &timekeepingv1.LeaveCaseStatusList{}
	for _, e := range Statuses() {
		out.CaseStatuses = append(out.CaseStatuses, &timekeepingv1.LeaveCaseStatus{
			Id: proto.Int64(e.ID), Qualifier: e.Name, Name: e.Name,
		})
	}
	return out, nil
}

func byID(list List, what string, id int64) (Entry, error) {
	e, ok := list.Find(&commonv1.Ref{Id: &id})
	if !ok {
		return Entry{}, fault.NotFound(fault.CodeNotFound, fmt.Sprintf("There is no leave %s with the id %d.", what, id))
	}
	return e, nil
}

func (e Entry) category() *timekeepingv1.LeaveCategory {
	return &timekeepingv1.LeaveCategory{
		Id: e.ID, Name: e.Name, ShortName: e.Name, IsActive: proto.Bool(true), Order: proto.Int32(int32(e.ID)),
	}
}

func (e Entry) reason() *timekeepingv1.LeaveReason {
	out := &timekeepingv1.LeaveReason{
		Id: e.ID, Name: e.Name, Code: strings.ToUpper(strings.ReplaceAll(e.Name, " ", "_")), Active: proto.Bool(true),
	}
	if category, ok := Categories().Find(&commonv1.Ref{Id: &e.Category}); ok {
		out.LeaveSetupCategory = category.category()
	}
	return out
}

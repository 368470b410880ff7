package leavesetup

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Error codes of multi-reads. All have status 400.
const (
	// CodeCategoryUnknown: the category does not exist.
	CodeCategoryUnknown = "WFL-100003"
	// CodeReasonUnknown: the reason does not exist.
	CodeReasonUnknown = "WFL-100004"
)

// MultiReadLeaveCategories returns categories in the order of the request, with 207 if some are
// unknown.
func (*Handler) MultiReadLeaveCategories(ctx context.Context, req *timekeepingv1.MultiReadLeaveCategoriesRequest) (*timekeepingv1.LeaveCategoryList, error) {
	found, err := several(Categories(), req, Entry.category, CodeCategoryUnknown, "category")
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResult(ctx, found)
	return &timekeepingv1.LeaveCategoryList{LeaveCategories: done, Failure: failure}, err
}

// MultiReadLeaveReasons returns reasons in the order of the request, with 207 if some are unknown.
func (*Handler) MultiReadLeaveReasons(ctx context.Context, req *timekeepingv1.MultiReadLeaveReasonsRequest) (*timekeepingv1.LeaveReasonList, error) {
	found, err := several(Reasons(), req, Entry.reason, CodeReasonUnknown, "reason")
	if err != nil {
		return nil, err
	}
	done, failure, err := rpc.BulkResult(ctx, found)
	return &timekeepingv1.LeaveReasonList{LeaveReasons: done, Failure: failure}, err
}

// several finds the entries that one of the lists names.
func several[M proto.Message](list List, lists reflist.Lists, show func(Entry) M, code, what string) (*bulk.Outcome[*commonv1.Ref, M], error) {
	refs, err := collectRefs(lists)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonv1.Ref, M]{}
	for _, ref := range refs {
		if e, ok := list.Find(ref); ok {
			out.Succeed(ref, show(e))
			continue
		}
		name := fmt.Sprintf("name %.100q", ref.GetQualifier())
		if ref.Id != nil {
			name = fmt.Sprintf("id %d", ref.GetId())
		}
		out.Fail(ref, fault.Invalid(code, fmt.Sprintf("There is no leave %s with the %s.", what, name)))
	}
	return out, nil
}

// collectRefs returns the refs of the only list that the request contains.
func collectRefs(list reflist.Lists) ([]*commonv1.Ref, error) {
	refs, err := reflist.ExactlyOne(fault.CodeBadRequest, "The request", list)
	if err != nil {
		return nil, err
	}
	for i, ref := range list.GetRefs() {
		if ref.Id == nil && ref.GetQualifier() == "" {
			return nil, fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("refs[%d] needs an id or a qualifier.", i))
		}
	}
	return refs, nil
}

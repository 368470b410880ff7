package rpc

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// BulkResult returns the outcome of a bulk request: all results if every item succeeded; the
// results and the failures, with status 207, if some items succeeded; an error if no item did.
func BulkResult[I, R proto.Message](ctx context.Context, out *bulk.Outcome[I, R]) ([]R, *commonv1.ErrorBody, error) {
	return BulkResultWithCode(ctx, out, fault.CodeBulkPartly)
}

// BulkResultWithCode is [BulkResult] for operations with their own error code for partial success.
func BulkResultWithCode[I, R proto.Message](ctx context.Context, out *bulk.Outcome[I, R], code string) ([]R, *commonv1.ErrorBody, error) {
	for _, result := range out.Results {
		if result.Err != nil && result.Err.Status == http.StatusForbidden {
			authn.NoteDeniedItem(ctx, result.Err.Code)
		}
	}
	failure, err := out.Failure()
	switch {
	case err != nil:
		return nil, nil, err
	case failure != nil:
		failure.ErrorCode = code
		return nil, failure, PartialSuccess(ctx)
	}
	return out.Successes(), nil, nil
}

// PartialList returns the objects that a read of several employees found. When some employees are
// unknown, it returns the body of a 207 response, which has the objects and then an error for each
// of these employees.
func PartialList[R proto.Message](ctx context.Context, found []R, unknown []UnknownEmployee) ([]R, *commonv1.ErrorBody, error) {
	out := &bulk.Outcome[*commonv1.Ref, R]{}
	for _, object := range found {
		out.Succeed(nil, object)
	}
	for _, u := range unknown {
		out.Fail(u.Ref, u.Err)
	}
	failure, err := out.Partial()
	if err != nil || failure == nil {
		return found, nil, err
	}
	return nil, failure, PartialSuccess(ctx)
}

// UnknownEmployee is an employee that a read names and that does not exist for the caller, and
// the error that says so.
type UnknownEmployee struct {
	Ref *commonv1.Ref
	Err *fault.Error
}

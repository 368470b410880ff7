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

// BulkResult returns what came of the items of a bulk request: the results when all
// succeeded; when some did, their failure, and the response has status 207; when
// none did, an error.
func BulkResult[I, R proto.Message](ctx context.Context, out *bulk.Outcome[I, R]) ([]R, *commonv1.ErrorBody, error) {
	return BulkResultWithCode(ctx, out, fault.CodeBulkPartly)
}

// BulkResultWithCode is [BulkResult] for operations that have a code of their own for some
// items that failed.
func BulkResultWithCode[I, R proto.Message](ctx context.Context, out *bulk.Outcome[I, R], code string) ([]R, *commonv1.ErrorBody, error) {
	for _, result := range out.Results {
		if result.Err != nil && result.Err.Status == http.StatusForbidden {
			authn.NoteRefusedItem(ctx, result.Err.Code)
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

package patternassignment

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// BulkResult returns the successes of a bulk request, or its failure. Failures include their input
// only if the caller wants to retry them.
func BulkResult[I, R proto.Message](ctx context.Context, outcome *bulk.Outcome[I, R], withInput bool) ([]R, *commonv1.ErrorBody, error) {
	failure, err := outcome.Failure()
	if err != nil {
		f := fault.FromError(err)
		if !withInput {
			dropInputs(f.Details)
		}
		return nil, nil, f
	}
	if failure == nil {
		return outcome.Successes(), nil, nil
	}
	if !withInput {
		dropInputs(failure.GetDetails())
	}
	return nil, failure, rpc.PartialSuccess(ctx)
}

func dropInputs(details *commonv1.ErrorDetails) {
	for _, r := range details.GetResults() {
		if d := r.GetError().GetDetails(); d != nil {
			if d.Input = nil; proto.Size(d) == 0 {
				r.Error.Details = nil
			}
		}
	}
}

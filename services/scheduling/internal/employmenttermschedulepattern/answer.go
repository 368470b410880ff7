package employmenttermschedulepattern

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
)

type (
	results = []*schedulingv1.GroupSchedulePatternResult
	result  = *schedulingv1.GroupSchedulePatternResult
)

// answer makes the answer of a bulk request from the outcome of its items.
// Flat turns the successes into results. What failed carries its input only
// when the caller wants to send it again.
func answer[I, R proto.Message](
	ctx context.Context, outcome *bulk.Outcome[I, R], withInput bool, flat func([]R) results,
) (*schedulingv1.GroupSchedulePatternResults, error) {
	failure, err := outcome.Failure()
	if err != nil {
		f := fault.FromError(err)
		if !withInput {
			dropInputs(f.Details)
		}
		return nil, f
	}
	if failure == nil {
		return &schedulingv1.GroupSchedulePatternResults{Results: flat(outcome.Successes())}, nil
	}
	if !withInput {
		dropInputs(failure.GetDetails())
	}
	return &schedulingv1.GroupSchedulePatternResults{Failure: failure}, rpc.PartialSuccess(ctx)
}

// asTheyAre is flat for items that have one result each.
func asTheyAre(list results) results { return list }

func dropInputs(details *commonv1.ErrorDetails) {
	for _, r := range details.GetResults() {
		if d := r.GetError().GetDetails(); d != nil {
			if d.Input = nil; proto.Size(d) == 0 {
				r.Error.Details = nil
			}
		}
	}
}

// clientError returns err as a fault when it is the caller's, so that it
// concerns one item and not the request.
func clientError(err error) (*fault.Error, bool) {
	f := fault.FromError(err)
	return f, f != nil && f.Status < http.StatusInternalServerError
}

// findTerms finds the terms of refs. With partial each ref that names none has
// an error of its own.
func (h *Handler) findTerms(ctx context.Context, refs []*commonv1.Ref, partial bool) ([]projection.Term, []error, error) {
	errs := make([]error, len(refs))
	if len(refs) == 0 {
		return nil, errs, nil
	}
	terms, err := h.deps.Terms.Terms(ctx, refs)
	if err == nil {
		return terms, errs, nil
	}
	if _, ok := clientError(err); !ok || !partial {
		return nil, nil, err
	}
	// The resolver names the first bad ref only, so each is asked for alone.
	terms = make([]projection.Term, len(refs))
	for i, ref := range refs {
		one, err := h.deps.Terms.Terms(ctx, []*commonv1.Ref{ref})
		if err == nil {
			terms[i] = one[0]
		} else if f, ok := clientError(err); ok {
			errs[i] = f
		} else {
			return nil, nil, err
		}
	}
	return terms, errs, nil
}

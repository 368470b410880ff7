// Package bulk runs operations with several items and an outcome for each: all or nothing, or, with
// partial success, one result per item in the order of the input.
package bulk

import (
	"fmt"
	"net/http"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

const (
	messageSome = "Some elements failed. See details.results for each of them."
	messageAll  = "All elements failed. See details.results for each of them."
)

// Result is the outcome of one item: a success or an error.
type Result[I, R proto.Message] struct {
	// Input is the item that the caller sent.
	Input I
	// Success is the result object; valid if Err is nil.
	Success R
	// Err is the error of the item, or nil.
	Err *fault.Error
}

// Outcome holds the results of a run in input order.
type Outcome[I, R proto.Message] struct {
	Results []Result[I, R]
	failed  int
}

// Run calls fn for one item after the other.
//
// Without partial, Run stops at the first error and returns it. With partial, an error that
// concerns only the item (a fault with a status below 500) becomes its result, and Run continues;
// any other error stops it. If Run returns an error, none of its effects may persist: the caller
// runs it in one transaction, with a savepoint for each item if partial is set.
func Run[I, R proto.Message](items []I, partial bool, fn func(i int, item I) (R, error)) (*Outcome[I, R], error) {
	out := &Outcome[I, R]{Results: make([]Result[I, R], 0, len(items))}
	for i, item := range items {
		success, err := fn(i, item)
		if err == nil {
			out.Succeed(item, success)
			continue
		}
		f := fault.FromError(err)
		if !partial || f.Status >= http.StatusInternalServerError {
			return nil, err
		}
		out.Fail(item, f)
	}
	return out, nil
}

// Succeed adds the result of an item, for operations that process all items at once instead of
// calling Run.
func (o *Outcome[I, R]) Succeed(input I, success R) {
	o.Results = append(o.Results, Result[I, R]{Input: input, Success: success})
}

// Fail adds the error of an item.
func (o *Outcome[I, R]) Fail(input I, err *fault.Error) {
	o.Results = append(o.Results, Result[I, R]{Input: input, Err: err})
	o.failed++
}

// Failed returns the number of failed items.
func (o *Outcome[I, R]) Failed() int { return o.failed }

// Successes returns the results of the successful items, in input order.
func (o *Outcome[I, R]) Successes() []R {
	out := make([]R, 0, len(o.Results))
	for _, r := range o.Results {
		if r.Err == nil {
			out = append(out, r.Success)
		}
	}
	return out
}

// Failure returns the failure of the outcome. Both results are nil if no item failed. If some
// failed, it returns the body of a 207 response; if all failed, a 400 error with the same kind of
// body.
func (o *Outcome[I, R]) Failure() (*commonv1.ErrorBody, error) {
	body, err := o.Partial()
	if err == nil && body != nil && o.failed == len(o.Results) {
		return nil, fault.Invalid(fault.CodeBulkFailed, messageAll).WithDetails(body.GetDetails())
	}
	return body, err
}

// Partial returns the body of a 207 response, or nil when no item failed. Unlike Failure it
// returns a body when all results are errors: a list of the objects of several employees has
// no result for an employee who has no objects.
func (o *Outcome[I, R]) Partial() (*commonv1.ErrorBody, error) {
	if o.failed == 0 {
		return nil, nil
	}
	details, err := o.details()
	if err != nil {
		return nil, err
	}
	return &commonv1.ErrorBody{
		ErrorCode: fault.CodeBulkPartly,
		Message:   messageSome,
		Details:   details,
	}, nil
}

func (o *Outcome[I, R]) details() (*commonv1.ErrorDetails, error) {
	details := &commonv1.ErrorDetails{
		ErrorOffsets: make([]int32, 0, o.failed),
		Results:      make([]*commonv1.BulkResult, 0, len(o.Results)),
	}
	for i, r := range o.Results {
		result, err := r.pack()
		if err != nil {
			return nil, fmt.Errorf("packing result %d: %w", i, err)
		}
		if r.Err != nil {
			details.ErrorOffsets = append(details.ErrorOffsets, int32(i))
		}
		details.Results = append(details.Results, result)
	}
	return details, nil
}

func (r Result[I, R]) pack() (*commonv1.BulkResult, error) {
	if r.Err == nil {
		success, err := anypb.New(r.Success)
		return &commonv1.BulkResult{Success: success}, err
	}
	input, err := anypb.New(r.Input)
	if err != nil {
		return nil, err
	}
	body := r.Err.Body()
	if body.Details == nil {
		body.Details = &commonv1.ErrorDetails{}
	} else {
		body.Details = proto.CloneOf(body.Details)
	}
	body.Details.Input = input
	return &commonv1.BulkResult{Error: body}, nil
}

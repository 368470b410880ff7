package fault

import (
	"errors"
	"net/http"
	"slices"

	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// MaxViolations is the largest number of faults that the error of one request lists.
const MaxViolations = 20

// Join returns the first of several errors about one request, with all of them as its violations. The code, the status
// and the text stay those of the first one. It ignores nil, and returns nil without an error.
//
// Only faults of the request itself (400, 413) are listed. If the first error is another one, Join returns it
// unchanged. A single fault has violations only if it names the value at fault: a property that has a wrong value.
func Join(errs ...error) error {
	errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	if len(errs) == 0 {
		return nil
	}
	var first *Error
	var all []*commonv1.Violation
	for i, err := range errs {
		var e *Error
		if !errors.As(err, &e) || e.Status != http.StatusBadRequest && e.Status != http.StatusRequestEntityTooLarge {
			if i == 0 {
				return err
			}
			continue
		}
		if first == nil {
			first = e
		}
		for _, v := range e.violations() {
			if !slices.ContainsFunc(all, func(known *commonv1.Violation) bool { return proto.Equal(known, v) }) {
				all = append(all, v)
			}
		}
	}
	if len(all) == 1 && (all[0].GetPath() == "" || first.Status != http.StatusBadRequest) {
		return errs[0]
	}
	details := &commonv1.ErrorDetails{}
	if first.Details != nil {
		details = proto.CloneOf(first.Details)
	}
	details.Violations = all[:min(len(all), MaxViolations)]
	return first.WithDetails(details)
}

// violations returns the faults that an error stands for.
func (e *Error) violations() []*commonv1.Violation {
	if listed := e.Details.GetViolations(); len(listed) > 0 {
		return listed
	}
	v := &commonv1.Violation{ErrorCode: e.Code, Message: e.Message}
	if len(e.Members) > 0 {
		v.Path = e.Members[0]
	}
	return []*commonv1.Violation{v}
}

package fault

import (
	"errors"
	"net/http"
	"slices"
	"strings"

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
			if len(all) < MaxViolations && !slices.ContainsFunc(all, func(known *commonv1.Violation) bool { return proto.Equal(known, v) }) {
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
	details.Violations = all
	return first.WithDetails(details)
}

// List collects the faults of a request whose checks need stored data.
type List struct {
	errs    []error
	stopped bool
}

// Add adds an error, if there is one. It reports whether to check further: not if the list is full, and not after an
// error that the request itself did not cause.
func (l *List) Add(err error) bool {
	if err != nil {
		l.errs = append(l.errs, err)
		isFault := HasStatus(err, http.StatusBadRequest) || HasStatus(err, http.StatusRequestEntityTooLarge)
		l.stopped = l.stopped || !isFault || len(l.errs) >= MaxViolations
	}
	return !l.stopped
}

// Stopped reports whether an earlier Add returned false.
func (l *List) Stopped() bool { return l.stopped }

// Err returns the errors as one, as [Join] does.
func (l *List) Err() error { return Join(l.errs...) }

// MovePaths replaces a prefix of the paths of an error: "shiftTemplate." by "" if the body of the request is the shift
// template itself, or "" by "punches[2]." if the checked object is a part of the request. It returns other errors
// unchanged.
func MovePaths(err error, from, to string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	move := func(path string) string {
		if rest, ok := strings.CutPrefix(path, from); ok {
			return strings.TrimSuffix(to+rest, ".")
		}
		return path
	}
	moved := *e
	if moved.Members = slices.Clone(e.Members); len(moved.Members) == 0 && from == "" {
		moved.Members = []string{""}
	}
	for i, path := range moved.Members {
		moved.Members[i] = move(path)
	}
	if len(e.Details.GetViolations()) > 0 {
		moved.Details = proto.CloneOf(e.Details)
		for _, v := range moved.Details.Violations {
			v.Path = move(v.GetPath())
		}
	}
	return &moved
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

// Package fault has the only error type that callers see. It carries the stable code, the HTTP
// status, the text and the details of an error, and keeps them when the error travels between
// services over gRPC. An error that is not a fault reaches the caller as a plain 500: its cause
// appears only in the log.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Error is an error in the form that the caller sees. An Error is immutable: the With methods
// return a copy, so that a package can keep an Error in a variable and return it many times.
type Error struct {
	// Code is the stable code of the error, "WFS-106607" or "WRL-00404".
	Code string
	// Status is the HTTP status of the response, 400 to 599.
	Status int
	// Message is the text for people. It says what to do, and contains nothing confidential.
	Message string
	// RetryAfter is the time until a retry makes sense; 0 if retrying alone does not help. It is
	// transmitted in whole seconds, rounded up.
	RetryAfter time.Duration
	// Details is the "details" object of the response, or nil.
	Details *commonv1.ErrorDetails
	// OAuth is the value of "error" in an RFC 6749 response, or "".
	OAuth string
	// Members are the JSON paths of the properties at fault, "compensation.pay_rate" or
	// "skills[2].id", or nil. Only operations with error_items show them.
	Members []string

	cause error
}

// New returns an Error.
func New(code string, status int, message string) *Error {
	return &Error{Code: code, Status: status, Message: message}
}

// Newf returns an Error with a message that is formatted like fmt.Sprintf. It does not wrap errors:
// use WithCause.
func Newf(code string, status int, format string, args ...any) *Error {
	return New(code, status, fmt.Sprintf(format, args...))
}

// WithCause adds the cause. It is logged and never sent.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// WithMessage replaces the text that the caller sees.
func (e *Error) WithMessage(message string) *Error {
	c := *e
	c.Message = message
	return &c
}

// WithDetails sets the details that the caller sees.
func (e *Error) WithDetails(details *commonv1.ErrorDetails) *Error {
	c := *e
	c.Details = details
	return &c
}

// WithLimits sets details with the actual count and the limit that it exceeds.
func (e *Error) WithLimits(actual, maximum int64) *Error {
	return e.WithDetails(&commonv1.ErrorDetails{
		Limits: []*commonv1.LimitDetail{{Actual: actual, Maximum: maximum}},
	})
}

// WithRetryAfter sets the time until a retry makes sense.
func (e *Error) WithRetryAfter(after time.Duration) *Error {
	c := *e
	c.RetryAfter = after
	return &c
}

// WithOAuth sets the value of "error" in an RFC 6749 response, for example
// "invalid_grant".
func (e *Error) WithOAuth(name string) *Error {
	c := *e
	c.OAuth = name
	return &c
}

// WithMembers sets the JSON paths of the properties at fault, which operations with error_items show.
// A path is relative to the body of the request, or is the name of a parameter.
func (e *Error) WithMembers(paths ...string) *Error {
	c := *e
	c.Members = paths
	return &c
}

// Error returns code, message and cause, for the log. Callers get only Code and Message.
func (e *Error) Error() string {
	if e.cause == nil {
		return e.Code + ": " + e.Message
	}
	return e.Code + ": " + e.Message + ": " + e.cause.Error()
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }

// Is reports whether target is an Error with the same code, so that
// errors.Is works across services, where only the code stays the same.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Body returns the error in the form that the caller sees.
func (e *Error) Body() *commonv1.ErrorBody {
	return &commonv1.ErrorBody{ErrorCode: e.Code, Message: e.Message, Details: e.Details}
}

// HasCode reports whether err is, or wraps, an Error with the given code.
func HasCode(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// HasStatus reports whether err is, or wraps, an Error with the given HTTP
// status.
func HasStatus(err error, status int) bool {
	var e *Error
	return errors.As(err, &e) && e.Status == status
}

// NotFound returns the error for a path with an unknown {id}.
func NotFound(code, message string) *Error {
	return New(code, http.StatusNotFound, message)
}

// Invalid returns the error for a request that cannot succeed unchanged.
func Invalid(code, message string) *Error {
	return New(code, http.StatusBadRequest, message)
}

// Unauthenticated returns the error for a request without a valid identity. The edge adds the
// WWW-Authenticate header.
func Unauthenticated(code, message string) *Error {
	return New(code, http.StatusUnauthorized, message)
}

// Forbidden returns the error for an authenticated caller without permission.
func Forbidden(code, message string) *Error {
	return New(code, http.StatusForbidden, message)
}

// Conflict returns the error for a change that another change has overtaken.
func Conflict(code, message string) *Error {
	return New(code, http.StatusConflict, message)
}

// TooLarge returns the error for a request that exceeds a service limit.
func TooLarge(code, message string) *Error {
	return New(code, http.StatusRequestEntityTooLarge, message)
}

// SplitRequest is the advice for a request that exceeds a limit.
const SplitRequest = "Split the request into several."

// OverLimit returns the error for a quantity that exceeds a service limit, with its actual and
// allowed number and advice. The status is 413, or 400 for requests between services. Methods get
// the errors for limits of the contract from pkg/policy.
func OverLimit[N int | int64](code string, status int, quantity string, actual, allowed N, advice string) *Error {
	return Newf(code, status, "Service limits are exceeded: %s: %d, allowed: %d. %s", quantity, actual, allowed, advice).
		WithLimits(int64(actual), int64(allowed))
}

// TooMany returns the error for a caller that sends too many requests.
func TooMany(message string, after time.Duration) *Error {
	return New(CodeThrottled, http.StatusTooManyRequests, message).WithRetryAfter(after)
}

// Unavailable returns the error for a temporary condition.
func Unavailable(message string, after time.Duration) *Error {
	return New(CodeUnavailable, http.StatusServiceUnavailable, message).WithRetryAfter(after)
}

// Internal returns the error for a failure that the caller cannot correct. The cause is logged.
func Internal(cause error) *Error {
	return New(CodeInternal, http.StatusInternalServerError, messageInternal).WithCause(cause)
}

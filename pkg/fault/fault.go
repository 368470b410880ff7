// Package fault holds the one error type that a caller may see. It carries the
// stable code, the HTTP status, the text and the details of an error, and it
// keeps them when the error travels between services over gRPC. Every error
// that is not a fault reaches the caller as a bare 500: what really happened
// is for the log alone.
package fault

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Error is an error in the form in which the caller sees it. An Error is
// never changed after it was made: the With methods return a copy, so that a
// package may keep an Error in a variable and return it many times.
type Error struct {
	// Code is the stable code of the error, "WFS-106607" or "WRL-00404".
	Code string
	// Status is the HTTP status of the response, 400 to 599.
	Status int
	// Message is the text for people. It says what to do, and holds nothing
	// that the caller may not know.
	Message string
	// RetryAfter says when a retry makes sense; 0 when it never does by
	// itself. It travels in whole seconds, rounded up.
	RetryAfter time.Duration
	// Details is the "details" object of the response, or nil.
	Details *commonv1.ErrorDetails
	// OAuth is the value of "error" in an RFC 6749 response, or "".
	OAuth string

	cause error
}

// New makes an Error.
func New(code string, status int, message string) *Error {
	return &Error{Code: code, Status: status, Message: message}
}

// Newf makes an Error whose message is formatted as by fmt.Sprintf. It does
// not wrap: a cause is given with WithCause.
func Newf(code string, status int, format string, args ...any) *Error {
	return New(code, status, fmt.Sprintf(format, args...))
}

// WithCause adds the error that led here. It is logged and never sent.
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// WithDetails sets the details that the caller sees.
func (e *Error) WithDetails(details *commonv1.ErrorDetails) *Error {
	c := *e
	c.Details = details
	return &c
}

// WithLimits sets details that say how far the request went past a limit.
func (e *Error) WithLimits(actual, maximum int64) *Error {
	return e.WithDetails(&commonv1.ErrorDetails{
		Limits: []*commonv1.LimitDetail{{Actual: actual, Maximum: maximum}},
	})
}

// WithRetryAfter sets when a retry makes sense.
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

// Error says code, message and cause. It is meant for the log: a caller gets
// Code and Message only.
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

// Body is the error as the caller sees it.
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

// NotFound is the error for a path whose {id} names nothing.
func NotFound(code, message string) *Error {
	return New(code, http.StatusNotFound, message)
}

// Invalid is the error for a request that can never succeed as it is.
func Invalid(code, message string) *Error {
	return New(code, http.StatusBadRequest, message)
}

// Unauthenticated is the error for a request without a valid identity. The
// edge adds the WWW-Authenticate header.
func Unauthenticated(code, message string) *Error {
	return New(code, http.StatusUnauthorized, message)
}

// Forbidden is the error for a caller who is known but not permitted.
func Forbidden(code, message string) *Error {
	return New(code, http.StatusForbidden, message)
}

// Conflict is the error for a change that was overtaken by another one.
func Conflict(code, message string) *Error {
	return New(code, http.StatusConflict, message)
}

// TooLarge is the error for a request that passes a service limit.
func TooLarge(code, message string) *Error {
	return New(code, http.StatusRequestEntityTooLarge, message)
}

// SplitRequest is what a caller does about a request that passes a limit.
const SplitRequest = "Split the request into several."

// OverLimit is [TooLarge] with the number of items that the request has of a quantity, the number
// that is allowed, and what to do.
func OverLimit(code, quantity string, actual, allowed int, advice string) *Error {
	return TooLarge(code, fmt.Sprintf("Service limits are exceeded: %s: %d, allowed: %d. %s", quantity, actual, allowed, advice)).
		WithLimits(int64(actual), int64(allowed))
}

// TooMany is the error for a caller who asks too often.
func TooMany(message string, after time.Duration) *Error {
	return New(CodeThrottled, http.StatusTooManyRequests, message).WithRetryAfter(after)
}

// Unavailable is the error for something that will pass by itself.
func Unavailable(message string, after time.Duration) *Error {
	return New(CodeUnavailable, http.StatusServiceUnavailable, message).WithRetryAfter(after)
}

// Internal is the error for everything that the caller cannot do anything
// about. The cause is logged.
func Internal(cause error) *Error {
	return New(CodeInternal, http.StatusInternalServerError, messageInternal).WithCause(cause)
}

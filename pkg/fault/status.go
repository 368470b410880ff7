package fault

import (
	"context"
	"errors"
	"math"
	"net/http"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

const (
	messageInternal    = "The server could not complete the request. Give the request id to its operator."
	messageUnavailable = "The service is not available at the moment. Try again later."
	messageDeadline    = "The request took too long. Try again later, or ask for less."
	messageCanceled    = "The caller cancelled the request."
	messageTooLarge    = "The request or its response is too large. Split it into several requests."

	// retryAfter allows a service to restart.
	retryAfter = 5 * time.Second
)

// GRPCStatus returns the error as a service sends it: a status with a Fault as its detail, without
// the cause.
func (e *Error) GRPCStatus() *status.Status {
	st := status.New(e.grpcCode(), e.Code+": "+e.Message)
	detailed, err := st.WithDetails(&commonv1.Fault{
		ErrorCode:  e.Code,
		Message:    e.Message,
		HttpStatus: int32(e.Status),
		RetryAfter: e.RetrySeconds(),
		Details:    e.Details,
		OauthError: e.OAuth,
		Members:    e.Members,
	})
	if err != nil {
		// The text was not valid UTF-8. The caller gets a plain status.
		return status.New(codes.Internal, messageInternal)
	}
	return detailed
}

// RetrySeconds returns RetryAfter in whole seconds, rounded up, for the Retry-After header.
func (e *Error) RetrySeconds() int32 {
	seconds := math.Ceil(e.RetryAfter.Seconds())
	return int32(min(max(seconds, 0), math.MaxInt32))
}

func (e *Error) grpcCode() codes.Code {
	switch e.Code {
	case CodeDeadline:
		return codes.DeadlineExceeded
	case CodeCanceled:
		return codes.Canceled
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType:
		return codes.InvalidArgument
	case http.StatusUnauthorized:
		return codes.Unauthenticated
	case http.StatusForbidden:
		return codes.PermissionDenied
	case http.StatusNotFound:
		return codes.NotFound
	case http.StatusConflict:
		return codes.Aborted
	case http.StatusTooManyRequests:
		return codes.ResourceExhausted
	case http.StatusServiceUnavailable:
		return codes.Unavailable
	}
	if e.Status < http.StatusInternalServerError {
		return codes.FailedPrecondition
	}
	return codes.Internal
}

// FromError returns the Error in err: err itself, the Error that another service sent, or a general
// one. It returns nil for nil.
func FromError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	// A status takes precedence over a context error: it is exact, while the context error in it is
	// only its text.
	var st interface{ GRPCStatus() *status.Status }
	if errors.As(err, &st) {
		return fromStatusError(st.GRPCStatus(), err)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return deadlineError().WithCause(err)
	case errors.Is(err, context.Canceled):
		return cancelError().WithCause(err)
	}
	return Internal(err)
}

// FromStatus returns the Error in a status: the one of the service, or a general one if gRPC itself
// created the status.
func FromStatus(st *status.Status) *Error {
	for _, detail := range st.Details() {
		if f, ok := detail.(*commonv1.Fault); ok && f.GetErrorCode() != "" {
			return fromFault(f)
		}
	}
	switch st.Code() {
	case codes.OK:
		return nil
	case codes.DeadlineExceeded:
		return deadlineError()
	case codes.Canceled:
		return cancelError()
	case codes.Unavailable:
		return Unavailable(messageUnavailable, retryAfter)
	case codes.ResourceExhausted:
		// gRPC itself uses this code only for messages beyond the size limits.
		return TooLarge(CodeTooLarge, messageTooLarge)
	default:
		return Internal(nil)
	}
}

func fromFault(f *commonv1.Fault) *Error {
	e := New(f.GetErrorCode(), int(f.GetHttpStatus()), f.GetMessage())
	if e.Status < http.StatusBadRequest || e.Status > 599 {
		e.Status = http.StatusInternalServerError
	}
	e.RetryAfter = time.Duration(f.GetRetryAfter()) * time.Second
	e.Details = f.GetDetails()
	e.OAuth = f.GetOauthError()
	e.Members = f.GetMembers()
	return e
}

// fromStatusError keeps the text of the status as the cause, for the log, unless it only repeats the
// code and the message.
func fromStatusError(st *status.Status, err error) *Error {
	e := FromStatus(st)
	switch {
	case e == nil:
		return Internal(err)
	case st.Message() == e.Error() && err.Error() == st.Err().Error():
		return e
	}
	return e.WithCause(err)
}

func deadlineError() *Error {
	return New(CodeDeadline, http.StatusGatewayTimeout, messageDeadline).WithRetryAfter(retryAfter)
}

func cancelError() *Error {
	return New(CodeCanceled, http.StatusServiceUnavailable, messageCanceled).WithRetryAfter(retryAfter)
}

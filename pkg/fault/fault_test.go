package fault_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

func TestErrorCrossesAHop(t *testing.T) {
	t.Parallel()
	sent := fault.TooLarge("WCO-106194", "Number of employees 501 is more than the allowed 500.").
		WithLimits(501, 500).
		WithRetryAfter(1500*time.Millisecond).
		WithOAuth("invalid_request").
		WithMembers("employees", "parts[1].id").
		WithCause(errors.New("secret"))

	// A client receives only the status.
	wire := status.ErrorProto(proto.CloneOf(sent.GRPCStatus().Proto()))
	assert.NotContains(t, wire.Error(), "secret")

	got := fault.FromError(fmt.Errorf("calling commons: %w", wire))
	assert.Equal(t, sent.Code, got.Code)
	assert.Equal(t, sent.Status, got.Status)
	assert.Equal(t, sent.Message, got.Message)
	assert.Equal(t, 2*time.Second, got.RetryAfter, "rounded up to whole seconds")
	assert.Equal(t, sent.OAuth, got.OAuth)
	assert.Equal(t, sent.Members, got.Members)
	assert.True(t, proto.Equal(sent.Details, got.Details))
	assert.ErrorIs(t, got, fault.New("WCO-106194", 0, ""))

	// A fault that is passed on is the same one after the second hop.
	again := fault.FromStatus(got.GRPCStatus())
	assert.Equal(t, got.Body().String(), again.Body().String())
}

// What another process says is an error, whatever status it names.
func TestOnlyStatusesOfErrorsCrossAHop(t *testing.T) {
	t.Parallel()
	for sent, got := range map[int]int{399: 500, 400: 400, 599: 599, 600: 500, 0: 500} {
		t.Run(fmt.Sprint(sent), func(t *testing.T) {
			assert.Equal(t, got, fault.FromStatus(fault.New("WRL-1", sent, "x").GRPCStatus()).Status, sent)
		})
	}
	st, err := status.New(codes.Unavailable, "x").WithDetails(&commonv1.Fault{HttpStatus: 404})
	require.NoError(t, err)
	assert.Equal(t, 503, fault.FromStatus(st).Status, "a detail without a code says nothing")
}

func TestErrorsAreLoggedWithTheirCause(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "WRL-1: x", fault.New("WRL-1", 400, "x").Error())
	assert.Equal(t, "WRL-1: x: why", fault.New("WRL-1", 400, "x").WithCause(errors.New("why")).Error())
}

func TestGRPCCodeFitsStatus(t *testing.T) {
	t.Parallel()
	want := map[int]codes.Code{
		400: codes.InvalidArgument,
		401: codes.Unauthenticated,
		403: codes.PermissionDenied,
		404: codes.NotFound,
		405: codes.FailedPrecondition,
		409: codes.Aborted,
		413: codes.InvalidArgument,
		429: codes.ResourceExhausted,
		500: codes.Internal,
		503: codes.Unavailable,
	}
	for httpStatus, code := range want {
		t.Run(fmt.Sprint(httpStatus), func(t *testing.T) {
			assert.Equal(t, code, fault.New("WRL-1", httpStatus, "x").GRPCStatus().Code(), httpStatus)
		})
	}
}

// Logs show the text of an error of a service once.
func TestTheTextOfAServiceIsNotRepeated(t *testing.T) {
	t.Parallel()
	sent := fault.Invalid("WRL-1", "no such day")
	got := fault.FromError(sent.GRPCStatus().Err())
	assert.Equal(t, "WRL-1: no such day", got.Error())
	assert.Equal(t, sent.Status, got.Status)
	assert.ErrorContains(t, fault.FromError(fmt.Errorf("calling commons: %w", sent.GRPCStatus().Err())), "calling commons")
}

func TestFromErrorMapsOtherErrors(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name  string
		err   error
		code  string
		http  int
		retry bool
	}{
		{"an unknown error", errors.New("relation shift does not exist"), fault.CodeInternal, 500, false},
		{"an expired context", fmt.Errorf("reading: %w", context.DeadlineExceeded), fault.CodeDeadline, 504, true},
		{"a cancelled context", context.Canceled, fault.CodeCanceled, 503, true},
		{"an unreachable service", status.Error(codes.Unavailable, "dial tcp 10.0.0.1"), fault.CodeUnavailable, 503, true},
		{"a deadline on the wire", status.Error(codes.DeadlineExceeded, "x"), fault.CodeDeadline, 504, true},
		{"a cancellation on the wire", status.Error(codes.Canceled, "x"), fault.CodeCanceled, 503, true},
		{"a message beyond the size limit", status.Error(codes.ResourceExhausted, "x"), fault.CodeTooLarge, 413, false},
		{"any other status", status.Error(codes.Unimplemented, "x"), fault.CodeInternal, 500, false},
		{"an error whose status is OK", statusError{status.New(codes.OK, "")}, fault.CodeInternal, 500, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := fault.FromError(c.err)
			assert.Equal(t, c.code, got.Code)
			assert.Equal(t, c.http, got.Status)
			assert.Equal(t, c.retry, got.RetrySeconds() > 0)
			assert.ErrorIs(t, got, c.err, "the cause stays for the log")
			assert.NotContains(t, got.Message, c.err.Error())
			assert.NotContains(t, got.GRPCStatus().Message(), "10.0.0.1")
		})
	}
	assert.Nil(t, fault.FromError(nil))
}

func TestErrorIsNeverChanged(t *testing.T) {
	t.Parallel()
	base := fault.NotFound("WRL-1", "No such thing.")
	derived := base.WithCause(errors.New("x")).WithLimits(2, 1).WithOAuth("y").WithMembers("z").WithRetryAfter(time.Second)
	assert.Equal(t, fault.NotFound("WRL-1", "No such thing."), base)
	require.ErrorIs(t, derived, base)
	assert.True(t, fault.HasCode(fmt.Errorf("x: %w", derived), "WRL-1"))
	assert.True(t, fault.HasStatus(derived, 404))
	assert.False(t, fault.HasCode(errors.New("x"), "WRL-1"))
	assert.False(t, fault.HasStatus(nil, 404))
}

func TestInvalidTextStillReturns(t *testing.T) {
	t.Parallel()
	st := fault.Invalid("WRL-1", "bad \xff text").GRPCStatus()
	assert.Equal(t, codes.Internal, st.Code())
}

type statusError struct{ st *status.Status }

func (e statusError) Error() string              { return "status " + e.st.Code().String() }
func (e statusError) GRPCStatus() *status.Status { return e.st }

package rpc_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Most cases are one call and the code and text of its fault.
func TestCalls(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		method  string
		ask     string
		anybody bool // no user
		trusted bool // from a trusted service instead of the edge
		lesser  bool // from a service that the contract does not name
		code    string
		status  int
		message string
	}{
		{name: "a plain call", method: askMethod, ask: `mode: "echo" short_name: "short"`},
		{name: "a fault crosses as it is", method: askMethod, ask: `mode: "fault"`, code: "WFP-90004", status: 409, message: "It was changed."},
		{name: "another error is hidden", method: askMethod, ask: `mode: "error"`, code: fault.CodeInternal, status: 500, message: "request id"},
		{name: "an error that can be explained is", method: askMethod, ask: `mode: "away"`, code: fault.CodeUnavailable, status: 503, message: "Away."},
		{name: "a panic is hidden", method: askMethod, ask: `mode: "panic"`, code: fault.CodeInternal, status: 500, message: "request id"},
		{name: "a call without a token", method: askMethod, anybody: true, code: fault.CodeUnauthenticated, status: 401, message: "needs an access token"},
		{name: "a public call without a token", method: openMethod, anybody: true},
		{name: "a public call with one", method: openMethod},
		{name: "an internal call of a user", method: insideMethod, code: fault.CodeForbidden, status: 403, message: "services only"},
		{name: "a call for edges of a user", method: edgeMethod, code: fault.CodeForbidden, status: 403, message: "services only"},
		{name: "an internal call without a caller", method: insideMethod, anybody: true, code: fault.CodeForbidden, status: 403, message: "services only"},
		{name: "an internal call of a service", method: insideMethod, anybody: true, trusted: true},
		{name: "an internal call of a service for a user", method: insideMethod, trusted: true},
		{name: "a call of a service", method: askMethod, anybody: true, trusted: true},
		{name: "a call without its permission", method: writeMethod, code: fault.CodeNoAccess, status: 403, message: "test.thing.write"},
		{name: "the permission comes before the formats", method: writeMethod, ask: `start_day: "x"`, code: fault.CodeNoAccess, status: 403},
		{name: "a call of a service for a user who was permitted another", method: writeMethod, trusted: true},
		{name: "an internal call of a service that is not named", method: insideMethod, anybody: true, lesser: true, code: fault.CodeForbidden, status: 403, message: "timekeeping may not"},
		{name: "the same for a user", method: insideMethod, lesser: true, code: fault.CodeForbidden, status: 403, message: "timekeeping may not"},
		{name: "a call for edges of a service", method: edgeMethod, anybody: true, lesser: true, code: fault.CodeForbidden, status: 403, message: "timekeeping may not"},
		{name: "a call of a service that is not named", method: askMethod, anybody: true, lesser: true, code: fault.CodeUnauthenticated, status: 401},
		{name: "the same for a user who is permitted", method: askMethod, lesser: true},
		{name: "the same for a user who is not", method: writeMethod, lesser: true, code: fault.CodeNoAccess, status: 403},
		{name: "a method without a policy", method: forgottenMethod, code: fault.CodeForbidden, status: 403, message: "No caller may use"},
		{name: "a method that does not exist", method: unknownMethod, code: fault.CodeInternal, status: 500},
		{name: "under a limit", method: askMethod, ask: `shift_ids: [1, 2]`},
		{name: "at a limit", method: askMethod, ask: `shift_ids: [1, 2, 3]`},
		{name: "over a limit", method: askMethod, ask: `shift_ids: [1, 2, 3, 4]`, code: "WFP-90003", status: 413, message: "shiftIds in the request: 4, allowed: 3"},
		{name: "a date", method: askMethod, ask: `start_day: "2026-02-28"`},
		{name: "no date", method: askMethod, ask: `parts { } parts { start_day: "2026-02-29" }`, code: fault.CodeDate, status: 400, message: "parts[1].startDay"},
		{name: "a broken rule", method: askMethod, ask: `parts { short_name: "longer" }`, code: fault.CodeValue, status: 400, message: "parts[0].shortName"},
		{name: "the identity comes before the rules", method: askMethod, ask: `start_day: "x"`, anybody: true, code: fault.CodeUnauthenticated, status: 401},
		{name: "the formats come before the limits", method: askMethod, ask: `start_day: "x" shift_ids: [1, 2, 3, 4]`, code: fault.CodeDate, status: 400},
		{name: "rules hold for public calls", method: openMethod, ask: `shift_ids: [1, 2, 3, 4]`, anybody: true, code: "WFP-90003", status: 413},
	}
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				ctx, conn := tenant.With(t.Context(), 3), f.edge
				if !c.anybody {
					ctx = f.user(ctx)
				}
				if c.trusted {
					conn = f.trusted
				}
				if c.lesser {
					conn = f.lesser
				}
				reply, err := f.ask(t, ctx, conn, c.method, c.ask)
				if c.code == "" {
					require.NoError(t, err)
					assert.True(t, proto.Equal(parseAsk(t, f.files, c.ask), reply), "the response is the request")
					return
				}
				var got *fault.Error
				require.ErrorAs(t, err, &got)
				assert.Equal(t, c.code, got.Code)
				assert.Equal(t, c.status, got.Status)
				assert.Contains(t, got.Message, c.message)
				assert.NotContains(t, err.Error(), "hunter2", "causes stay on their side")
			})
		}
	})
}

func TestFaultDetailsCross(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		_, err := f.ask(t, f.user(t.Context()), f.edge, askMethod, `mode: "fault"`)
		limits := fault.FromError(err).Details.GetLimits()
		require.Len(t, limits, 1)
		assert.True(t, proto.Equal(&commonv1.LimitDetail{Actual: 2, Maximum: 1}, limits[0]))

		_, err = f.ask(t, f.user(t.Context()), f.edge, askMethod, `short_name: "longer" parts { short_name: "longer" }`)
		details := fault.FromError(err).Details
		assert.Len(t, details.GetErrors(), 1, "further broken rules")
		require.Len(t, details.GetViolations(), 2)
		assert.Equal(t, "shortName", details.GetViolations()[0].GetPath())
		assert.Equal(t, "parts[0].shortName", details.GetViolations()[1].GetPath())
	})
}

func TestHeadersCross(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		var header, trailer metadata.MD
		var from peer.Peer
		ctx := metadata.AppendToOutgoingContext(f.user(t.Context()), "accept-language", "de", "accept-language", "en")
		_, err := f.ask(t, ctx, f.edge, askMethod, `mode: "headers"`, grpc.Header(&header), grpc.Trailer(&trailer), grpc.Peer(&from))
		require.NoError(t, err)
		assert.Equal(t, []string{"207"}, header.Get(rpc.HeaderHTTPStatus))
		assert.Equal(t, []string{"/v1/scheduling/propagations/7"}, header.Get(rpc.HeaderContentLocation))
		assert.Equal(t, []string{"all"}, trailer.Get("after"))
		assert.NotNil(t, from.Addr)
		assert.Equal(t, []string{"de", "en"}, f.echo.metadata().Get("accept-language"))
		require.Len(t, header.Get(client.HeaderRequestID), 1, "the service made an id, and says so")
		assert.True(t, obs.ValidRequestID(header.Get(client.HeaderRequestID)[0]))

		_, err = f.ask(t, ctx, f.edge, askMethod, `mode: "late headers"`, grpc.Header(&header))
		require.NoError(t, err)
		assert.Equal(t, []string{"1"}, header.Get("x"))
	})
}

func TestIdentityTravels(t *testing.T) {
	t.Parallel()
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	words := func(m proto.Message) []string {
		var out []string
		list := m.ProtoReflect().Get(m.ProtoReflect().Descriptor().Fields().ByName("said")).List()
		for i := range list.Len() {
			out = append(out, list.Get(i).String())
		}
		return out
	}
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		work := obs.WithRequest(context.WithValue(t.Context(), leakKey{}, "secret"), obs.Request{ID: "request-1", Traceparent: trace})
		noTenant := work
		work = tenant.With(work, 3)
		cases := []struct {
			name string
			ctx  context.Context
			conn grpc.ClientConnInterface
			call string
			want []string
		}{
			{"a user from the edge", f.user(work), f.edge, askMethod, []string{"ada", "", "7", "request-1", trace, "leak:", "an address"}},
			{"a user through a service", f.user(work), f.trusted, insideMethod, []string{"ada", "scheduling", "7", "request-1", trace, "leak:", "an address"}},
			{"a service for a tenant", work, f.trusted, insideMethod, []string{"", "scheduling", "3", "request-1", trace, "leak:", "an address"}},
			{"a call without a user has no tenant", work, f.edge, openMethod, []string{"nobody", "", "0", "request-1", trace, "leak:", "an address"}},
			{"a service may name one", work, f.trusted, openMethod, []string{"nobody", "", "3", "request-1", trace, "leak:", "an address"}},
		}
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				reply, err := f.ask(t, c.ctx, c.conn, c.call, `mode: "who"`)
				require.NoError(t, err, c.name)
				assert.Equal(t, c.want, words(reply), c.name)
			})
		}
		_, err := f.ask(t, noTenant, f.trusted, insideMethod, `mode: "who"`)
		assert.Equal(t, http.StatusBadRequest, fault.FromError(err).Status, "a service without a tenant: %v", err)
		// Metadata that the caller set itself is kept, and a malformed id is replaced.
		ctx := metadata.AppendToOutgoingContext(work, client.HeaderAuthorization, f.token, client.HeaderRequestID, "odd id")
		reply, err := f.ask(t, ctx, f.edge, askMethod, `mode: "who"`)
		require.NoError(t, err)
		assert.Equal(t, "ada", words(reply)[0])
		assert.NotEqual(t, "odd id", words(reply)[3])
		assert.True(t, obs.ValidRequestID(words(reply)[3]))
	})
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	said := func(t *testing.T, f *fixture, ctx context.Context) string {
		t.Helper()
		reply, err := f.ask(t, f.user(ctx), f.edge, askMethod, `mode: "deadline"`)
		require.NoError(t, err)
		return reply.ProtoReflect().Get(reply.ProtoReflect().Descriptor().Fields().ByName("said")).List().Get(0).String()
	}
	eachTransport(t, rpc.Config{Deadline: 20 * time.Second, MaxDeadline: time.Minute}, func(t *testing.T, f *fixture) {
		assert.Equal(t, "20s", said(t, f, t.Context()), "one without a deadline gets the default")
		short, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		assert.Equal(t, "10s", said(t, f, short), "a deadline crosses")
		long, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		assert.Equal(t, "1m0s", said(t, f, long), "a long one is cut")

		passing, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := f.ask(t, f.user(passing), f.edge, askMethod, `mode: "wait for the end"`)
		assert.Equal(t, fault.CodeDeadline, fault.FromError(err).Code)
		assert.NotZero(t, fault.FromError(err).RetryAfter)
		<-f.echo.entered
		require.Error(t, <-f.echo.ended)
	})
}

func TestTheServiceEndsItsOwnDeadline(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{Deadline: 2 * time.Second}, func(t *testing.T, f *fixture) {
		_, err := f.ask(t, f.user(t.Context()), f.edge, askMethod, `mode: "wait for the end"`)
		assert.Equal(t, fault.CodeDeadline, fault.FromError(err).Code)
		require.ErrorIs(t, <-f.echo.ended, context.DeadlineExceeded)
	})
}

func TestCancellationCrosses(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		ctx, cancel := context.WithCancel(f.user(t.Context()))
		go func() {
			<-f.echo.entered
			cancel()
		}()
		_, err := f.ask(t, ctx, f.edge, askMethod, `mode: "wait for the end"`)
		assert.Equal(t, fault.CodeCanceled, fault.FromError(err).Code)
		require.ErrorIs(t, <-f.echo.ended, context.Canceled)

		_, err = f.ask(t, ctx, f.edge, askMethod, "")
		assert.Equal(t, fault.CodeCanceled, fault.FromError(err).Code, "nothing starts for one who is gone")
	})
}

func TestCallsInFlightAreBounded(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{MaxInFlight: 2}, func(t *testing.T, f *fixture) {
		ended := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := f.ask(t, f.user(t.Context()), f.edge, askMethod, `mode: "wait"`)
				ended <- err
			}()
			<-f.echo.entered
		}
		_, err := f.ask(t, f.user(t.Context()), f.edge, askMethod, "")
		got := fault.FromError(err)
		assert.Equal(t, fault.CodeOverloaded, got.Code)
		assert.Equal(t, 503, got.Status)
		assert.NotZero(t, got.RetrySeconds())

		// Those that run come to their end, and no new ones begin.
		drained := make(chan error, 1)
		go func() { drained <- f.chain.Drain(t.Context()) }()
		close(f.echo.release)
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
		require.NoError(t, <-drained)
		_, err = f.ask(t, f.user(t.Context()), f.edge, askMethod, "")
		assert.Equal(t, fault.CodeUnavailable, fault.FromError(err).Code)
		lines := f.log.lines(t, "rpc")
		assert.Equal(t, "DEBUG", lines[len(lines)-1]["level"], "the stop of a service is not a fault")
	})
}

func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "in process", rpc.Config{})
	ended := make(chan error, 1)
	go func() {
		_, err := f.ask(t, f.user(t.Context()), f.edge, askMethod, `mode: "wait"`)
		ended <- err
	}()
	<-f.echo.entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, f.chain.Drain(ctx), context.Canceled)
	close(f.echo.release)
	require.NoError(t, <-ended)
}

func TestCallsAreLoggedAndCounted(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		ctx := obs.WithRequest(f.user(t.Context()), obs.Request{ID: "request-1"})
		for _, mode := range []string{"echo", "fault", "error", "panic"} {
			_, _ = f.ask(t, ctx, f.edge, askMethod, `mode: "`+mode+`" said: "payload"`)
		}
		// The network responds before the outermost steps have ended.
		require.Eventually(t, func() bool { return len(f.log.lines(t, "rpc")) == 4 }, 20*time.Second, time.Millisecond)
		lines := f.log.lines(t, "rpc")
		for i, want := range []struct{ level, code, errorCode string }{
			{"DEBUG", "OK", ""}, {"DEBUG", "Aborted", "WFP-90004"}, {"ERROR", "Internal", fault.CodeInternal}, {"ERROR", "Internal", fault.CodeInternal},
		} {
			t.Run(fmt.Sprintf("line %d", i), func(t *testing.T) {
				assert.Equal(t, want.level, lines[i]["level"])
				assert.Equal(t, want.code, lines[i]["code"])
				assert.Equal(t, askMethod, lines[i]["method"])
				assert.Equal(t, "request-1", lines[i]["request_id"])
				assert.EqualValues(t, 7, lines[i]["tenant"])
				assert.Equal(t, "ada", lines[i]["subject"])
				assert.Equal(t, "test.thing.read", lines[i]["permission"])
				if want.errorCode != "" {
					assert.Equal(t, want.errorCode, lines[i]["error_code"])
					assert.Contains(t, lines[i]["error"], "hunter2", "the log knows the cause")
				}
			})
		}
		panics := f.log.lines(t, "panic")
		require.Len(t, panics, 1)
		assert.Contains(t, panics[0]["stack"], "contract_test.go")
		assert.NotContains(t, f.log.String(), "payload")
		assert.NotContains(t, f.log.String(), f.token)

		metrics, err := testutil.GatherAndCount(f.registry, "rotaloom_rpc_calls_total")
		require.NoError(t, err)
		assert.Equal(t, 3, metrics, "one for each code")
	})
}

func TestRequestsBeyondTheSizeAreRefused(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{Sizes: client.Sizes{MaxRequest: 1 << 10}}, func(t *testing.T, f *fixture) {
		_, err := f.ask(t, f.user(t.Context()), f.edge, askMethod, `mode: "`+letters(1<<10)+`"`)
		assert.Equal(t, 413, fault.FromError(err).Status)
	})
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		_, err := f.ask(t, f.user(t.Context()), f.edge, askMethod, `mode: "`+letters(1<<10)+`"`, grpc.MaxCallRecvMsgSize(1<<10))
		assert.Equal(t, 413, fault.FromError(err).Status)
	})
}

func letters(n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = 'a'
	}
	return string(out)
}

func TestStreamsAreRefused(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		desc := &grpc.StreamDesc{StreamName: "Stream", ServerStreams: true}
		stream, err := f.edge.NewStream(f.user(t.Context()), desc, "/"+service+"/Stream")
		if err == nil {
			err = stream.RecvMsg(parseAsk(t, f.files, ""))
		}
		assert.Error(t, err)
	})
}

func TestChainNeedsItsDeps(t *testing.T) {
	t.Parallel()
	_, err := rpc.NewChain(rpc.Config{}, rpc.Deps{})
	require.Error(t, err)
}

package gateway

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/gateway/lines"
	"github.com/rotaloom/rotaloom/pkg/clock"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// fakes are the services behind an edge under test. Each test sets the calls that it needs.
type fakes struct {
	schedulingv1.UnimplementedShiftServiceServer
	patterns
	templates
	tokens
	keys *memoryKeyStore

	updateShift  func(context.Context, *schedulingv1.UpdateShiftRequest) (*schedulingv1.Shift, error)
	deleteShift  func(context.Context, *schedulingv1.DeleteShiftRequest) (*emptypb.Empty, error)
	multiCreate  func(context.Context, *schedulingv1.MultiCreateShiftsRequest) (*schedulingv1.ShiftList, error)
	getShift     func(context.Context, *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error)
	createShifts func(context.Context, *schedulingv1.Shift) (*schedulingv1.ShiftList, error)
}

// newTrusting returns an edge that leaves authentication to the services and does not throttle.
func newTrusting(cfg Config, conns backends.Conns, log *slog.Logger) (*Edge, error) {
	cfg.Clock = clock.System{}
	return newEdge(cfg, conns, nil, nil, log)
}

func (f *fakes) UpdateShift(ctx context.Context, r *schedulingv1.UpdateShiftRequest) (*schedulingv1.Shift, error) {
	return f.updateShift(ctx, r)
}

func (f *fakes) DeleteShift(ctx context.Context, r *schedulingv1.DeleteShiftRequest) (*emptypb.Empty, error) {
	return f.deleteShift(ctx, r)
}

func (f *fakes) MultiCreateShifts(ctx context.Context, r *schedulingv1.MultiCreateShiftsRequest) (*schedulingv1.ShiftList, error) {
	return f.multiCreate(ctx, r)
}

func (f *fakes) GetShift(ctx context.Context, r *schedulingv1.GetShiftRequest) (*schedulingv1.Shift, error) {
	return f.getShift(ctx, r)
}

func (f *fakes) CreateShift(ctx context.Context, r *schedulingv1.Shift) (*schedulingv1.ShiftList, error) {
	return f.createShifts(ctx, r)
}

type patterns struct {
	schedulingv1.UnimplementedEmploymentTermSchedulePatternServiceServer
	applyCreate func(context.Context, *schedulingv1.ApplyCreateGroupSchedulePatternsRequest) (*schedulingv1.GroupSchedulePatternResults, error)
}

func (p *patterns) ApplyCreateEmploymentTermSchedulePatterns(ctx context.Context, r *schedulingv1.ApplyCreateGroupSchedulePatternsRequest) (*schedulingv1.GroupSchedulePatternResults, error) {
	return p.applyCreate(ctx, r)
}

type templates struct {
	schedulingv1.UnimplementedShiftTemplateServiceServer
	getTemplate    func(context.Context, *schedulingv1.GetShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error)
	updateTemplate func(context.Context, *schedulingv1.UpdateShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error)
	createTemplate func(context.Context, *schedulingv1.ShiftTemplate) (*schedulingv1.ShiftTemplate, error)
}

func (s *templates) GetShiftTemplate(ctx context.Context, r *schedulingv1.GetShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error) {
	return s.getTemplate(ctx, r)
}

func (s *templates) UpdateShiftTemplate(ctx context.Context, r *schedulingv1.UpdateShiftTemplateRequest) (*schedulingv1.ShiftTemplate, error) {
	return s.updateTemplate(ctx, r)
}

func (s *templates) CreateShiftTemplate(ctx context.Context, r *schedulingv1.ShiftTemplate) (*schedulingv1.ShiftTemplate, error) {
	return s.createTemplate(ctx, r)
}

type tokens struct {
	authv1.UnimplementedTokenServiceServer
	issue func(context.Context, *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error)
}

func (s *tokens) IssueToken(ctx context.Context, r *authv1.IssueTokenRequest) (*authv1.IssueTokenResponse, error) {
	return s.issue(ctx, r)
}

// serve starts an edge over the fakes, on TLS, and returns it.
func serve(t *testing.T, cfg Config, f *fakes) *httptest.Server {
	t.Helper()
	front, _ := serveEdge(t, cfg, f)
	return front
}

// serveEdge is serve for tests that look into the edge.
func serveEdge(t *testing.T, cfg Config, f *fakes) (*httptest.Server, *Edge) {
	t.Helper()
	edge, err := newTrusting(cfg, connsTo(t, f), discard())
	require.NoError(t, err)
	front := httptest.NewUnstartedServer(edge)
	front.EnableHTTP2 = true
	front.StartTLS()
	t.Cleanup(front.Close)
	return front, edge
}

// serveConn starts an edge over one connection to all services.
func serveConn(t *testing.T, conn grpc.ClientConnInterface) *httptest.Server {
	t.Helper()
	edge, err := newTrusting(Config{}, all(conn), discard())
	require.NoError(t, err)
	front := httptest.NewTLSServer(edge)
	t.Cleanup(front.Close)
	return front
}

// connsTo returns connections to the fakes.
func connsTo(t *testing.T, f *fakes) backends.Conns {
	t.Helper()
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer()
	schedulingv1.RegisterShiftServiceServer(server, f)
	schedulingv1.RegisterEmploymentTermSchedulePatternServiceServer(server, &f.patterns)
	schedulingv1.RegisterShiftTemplateServiceServer(server, &f.templates)
	authv1.RegisterTokenServiceServer(server, &f.tokens)
	if f.keys != nil {
		platformv1.RegisterIdempotencyServiceServer(server, f.keys)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient("passthrough:///bufconn", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	conns := all(conn)
	conns.Own = conn
	return conns
}

// reply is the response that a client received.
type reply struct {
	status int
	header http.Header
	body   string
}

func call(t *testing.T, s *httptest.Server, method, path, body string, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return send(t, s.Client(), r)
}

// requestIDs finds the request id in the body of an error.
var requestIDs = regexp.MustCompile(`,"request(_id|Id)":"[^"]*"`)

// withoutRequestID returns the body of an error without the id of its request.
func withoutRequestID(body string) string { return requestIDs.ReplaceAllString(body, "") }

func send(t *testing.T, client *http.Client, r *http.Request) reply {
	t.Helper()
	resp, err := client.Do(r)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	if len(b) > 0 && resp.Header.Get("Content-Type") != lines.ContentType {
		require.True(t, json.Valid(b), "%s", b)
	}
	return reply{resp.StatusCode, resp.Header, string(b)}
}

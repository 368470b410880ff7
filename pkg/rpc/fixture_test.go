package rpc_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/policy/policytest"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/testkit/authntest"
	"github.com/rotaloom/rotaloom/pkg/testkit/syncbuffer"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is the echo service behind its chain, and the ways to reach it.
type fixture struct {
	files    *protoregistry.Files
	echo     *echo
	chain    *rpc.Chain
	log      *logBuffer
	registry *prometheus.Registry
	token    string
	// edge and trusted are connections of the edge and of a service that the
	// contract names; lesser is one of a service that it does not.
	edge, trusted, lesser grpc.ClientConnInterface
	// stop ends the server; only over the network.
	stop func()

	mu      sync.Mutex
	refused []string // the refusals that the chain recorded
}

// transports are the ways to reach a service; every case runs on both.
var transports = map[string]func(tb testing.TB, f *fixture, cfg rpc.Config){
	"network":    overNetwork,
	"in process": inProcess,
}

func eachTransport(t *testing.T, cfg rpc.Config, run func(t *testing.T, f *fixture)) {
	t.Helper()
	for name := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, newFixture(t, name, cfg))
		})
	}
}

func newFixture(tb testing.TB, transport string, cfg rpc.Config) *fixture {
	tb.Helper()
	cfg.Clients, cfg.Services = append(cfg.Clients, "edge"), append(cfg.Services, "scheduling", "timekeeping=clocks.example")
	files := policytest.Files(tb, contract)
	f := &fixture{files: files, echo: newEcho(tb, files), log: &logBuffer{}, registry: prometheus.NewRegistry()}
	verifier, token := identity(tb)
	f.token = token
	log := slog.New(obs.NewHandler(slog.NewJSONHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	var err error
	f.chain, err = rpc.NewChain(cfg, rpc.Deps{
		Log: log, Metrics: f.registry, Verifier: verifier, Clock: clock.System{}, Policies: policy.NewTable(files),
		Explain: func(err error) *fault.Error {
			if errors.Is(err, errUnavailable) {
				return fault.Unavailable("Away.", time.Second).WithCause(err)
			}
			return nil
		},
		Denied: func(_ context.Context, method *policy.Method, p *authn.Principal, refused *fault.Error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.refused = append(f.refused, fmt.Sprintf("%s %d %s %s", method.Name, p.Tenant, p.Subject, refused.Code))
		},
	})
	require.NoError(tb, err)
	transports[transport](tb, f, cfg)
	return f
}

// identity makes a verifier, and a token of tenant 7 that it accepts, which
// permits to read things.
func identity(tb testing.TB) (*authn.Verifier, string) {
	tb.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(tb, err)
	keys := authntest.OneKey(public)
	verifier, err := authn.NewVerifier(authn.Config{Issuer: "test", Audience: "rotaloom"}, keys, authn.NoRevocations{}, clock.System{})
	require.NoError(tb, err)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.EdDSA, Key: private}, nil)
	require.NoError(tb, err)
	claims := authn.Claims{
		Claims: jwt.Claims{Issuer: "test", Subject: "ada", Audience: jwt.Audience{"rotaloom"}, ID: "1", Expiry: jwt.NewNumericDate(time.Now().Add(time.Hour))},
		Tenant: 7, Permissions: []string{"test.thing.read"},
	}
	token, err := claims.Sign(signer)
	require.NoError(tb, err)
	return verifier, token
}

func inProcess(_ testing.TB, f *fixture, _ rpc.Config) {
	local := rpc.NewLocal(f.chain)
	local.RegisterService(f.echo.describe(), f.echo)
	f.edge, f.trusted, f.lesser, f.stop = local, local.Conn("scheduling", nil), local.Conn("timekeeping", nil), func() {}
}

func overNetwork(tb testing.TB, f *fixture, _ rpc.Config) {
	tb.Helper()
	ca, err := certs.OpenLocalCA(tb.TempDir(), time.Now())
	require.NoError(tb, err)
	server, err := rpc.NewServer(f.chain, certificates(tb, ca, "echo").ServerConfig(), false)
	require.NoError(tb, err)
	server.RegisterService(f.echo.describe(), f.echo)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(tb, err)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx, listener, 5*time.Second) }()
	f.stop = sync.OnceFunc(func() {
		stop()
		assert.NoError(tb, <-served)
	})
	tb.Cleanup(f.stop)
	f.edge = dial(tb, listener, certificates(tb, ca, "edge").ClientConfig)
	f.trusted = dial(tb, listener, certificates(tb, ca, "scheduling").ClientConfig)
	f.lesser = dial(tb, listener, certificates(tb, ca, "clocks.example").ClientConfig)
}

func certificates(tb testing.TB, ca *certs.LocalCA, name string) *certs.Certificates {
	tb.Helper()
	files, err := ca.Issue(name)
	require.NoError(tb, err)
	certs, err := certs.Load(files, slog.New(slog.DiscardHandler), clock.System{})
	require.NoError(tb, err)
	return certs
}

func dial(tb testing.TB, listener net.Listener, cfg func() *tls.Config) *grpc.ClientConn {
	tb.Helper()
	conn, err := client.Dial(client.Config{Target: listener.Addr().String(), TLS: cfg})
	require.NoError(tb, err)
	tb.Cleanup(func() { assert.NoError(tb, conn.Close()) })
	return conn
}

// user returns a context of work in the name of the user.
func (f *fixture) user(ctx context.Context) context.Context {
	return authn.With(ctx, &authn.Principal{Subject: "ada", Tenant: 7}, f.token)
}

// ask calls a method with an Ask in text form, and returns the Ask it got.
func (f *fixture) ask(tb testing.TB, ctx context.Context, conn grpc.ClientConnInterface, method, text string, opts ...grpc.CallOption) (proto.Message, error) {
	tb.Helper()
	reply := parseAsk(tb, f.files, "")
	err := conn.Invoke(ctx, method, parseAsk(tb, f.files, text), reply, opts...)
	return reply, err
}

// logBuffer is a log in JSON that a test reads.
type logBuffer struct{ syncbuffer.Buffer }

// lines returns the lines with a given text.
func (b *logBuffer) lines(tb testing.TB, msg string) []map[string]any {
	tb.Helper()
	var out []map[string]any
	for text := range strings.Lines(b.String()) {
		var line map[string]any
		require.NoError(tb, json.Unmarshal([]byte(text), &line), text)
		if line["msg"] == msg {
			out = append(out, line)
		}
	}
	return out
}

// Package gateway is the REST edge: it serves the HTTP API that the contracts
// describe, and calls the services for it. It knows no operation by name: what
// there is follows from the google.api.http rules and the options of the
// contracts.
//
// The edge builds no messages. A request's JSON becomes wire bytes, which
// travel as the unknown fields of an empty request message; an answer's bytes
// come back the same way and become JSON.
package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/policy"
)

// Config bounds and tunes the edge. Zero values mean the defaults.
type Config struct {
	// BodyLimit is the size of the largest request body, in bytes; 1 MiB.
	BodyLimit int64 `name:"body-limit" default:"1048576" help:"Largest request body in bytes."`
	// AnswerLimit is the size of the largest answer of a service, in bytes, as
	// it comes over gRPC; 64 MiB.
	AnswerLimit int `name:"answer-limit" default:"67108864" help:"Largest answer of a service in bytes."`
	// Timeout is how long a request may take, the reading of its body
	// included; 60 s.
	Timeout time.Duration `name:"request-timeout" default:"60s" help:"Time that a request may take."`
	// TrustedProxies are the addresses whose X-Forwarded-Proto: https is
	// believed when a request comes over plain HTTP. Without them, and that is
	// the default, only TLS is served.
	TrustedProxies []netip.Prefix `name:"trusted-proxies" help:"Addresses (CIDR) of proxies that end TLS in front of the edge."`
}

func (c Config) withDefaults() Config {
	if c.BodyLimit <= 0 {
		c.BodyLimit = 1 << 20
	}
	if c.AnswerLimit <= 0 {
		c.AnswerLimit = 64 << 20
	}
	if c.Timeout <= 0 {
		c.Timeout = time.Minute
	}
	return c
}

// Conns are the connections to the services, one for each domain. A
// connection in process serves as well as one over the network, provided that
// it follows the call option grpc.ForceCodecV2.
type Conns struct {
	Auth        grpc.ClientConnInterface
	Commons     grpc.ClientConnInterface
	Timekeeping grpc.ClientConnInterface
	Scheduling  grpc.ClientConnInterface
}

// Edge serves the HTTP API. It is an http.Handler and safe for concurrent use.
type Edge struct {
	cfg    Config
	log    *slog.Logger
	routes router
	bufs   buffers
}

// New makes an edge over the services. It fails when a contract describes a
// route that the edge cannot serve, or when a connection is missing.
func New(cfg Config, conns Conns, log *slog.Logger) (*Edge, error) {
	return newEdge(cfg, domains(conns), log)
}

func newEdge(cfg Config, domains []domain, log *slog.Logger) (*Edge, error) {
	if log == nil {
		return nil, errors.New("an edge needs a log")
	}
	e := &Edge{cfg: cfg.withDefaults(), log: log}
	policies := policy.NewTable(nil)
	// The runtime's mux is what the generated handlers work with. Its own
	// routing is not used: it tries the pattern that was registered last first,
	// and so lets {id} hide the literal paths that are registered before it.
	var generated []runtime.HandlerFunc
	mux := runtime.NewServeMux(append(e.muxOptions(), runtime.WithMiddlewares(
		func(next runtime.HandlerFunc) runtime.HandlerFunc {
			generated = append(generated, next)
			return next
		}))...)
	for _, d := range domains {
		if d.conn == nil {
			return nil, errors.New("the edge has no connection to the domain " + d.name)
		}
		conn := transcodingConn{conn: d.conn, answerLimit: e.cfg.AnswerLimit}
		for _, s := range d.services {
			generated = generated[:0]
			if err := s.register(context.Background(), mux, conn); err != nil {
				return nil, err
			}
			if err := e.routes.addService(s.name, generated, policies); err != nil {
				return nil, err
			}
		}
	}
	return e, nil
}

func (e *Edge) muxOptions() []runtime.ServeMuxOption {
	never := func(string) (string, bool) { return "", false }
	return []runtime.ServeMuxOption{
		runtime.WithMarshalerOption(runtime.MIMEWildcard, marshaler{}),
		runtime.WithIncomingHeaderMatcher(never),
		runtime.WithOutgoingHeaderMatcher(never),
		runtime.WithOutgoingTrailerMatcher(never),
		runtime.WithMetadata(metadataOf),
		runtime.WithErrorHandler(writeError),
		runtime.WithForwardResponseOption(prepareAnswer),
		runtime.WithForwardResponseRewriter(bindAnswer),
		runtime.WithWriteContentLength(),
	}
}

// ServeHTTP serves one request.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := e.newExchange(w, r)
	defer x.finish()
	if f := e.requireHTTPS(r); f != nil {
		x.fail(f)
		return
	}
	route, values, f := e.routes.find(x.method, x.path)
	if f != nil {
		x.allow(f)
		x.fail(f.fault)
		return
	}
	x.route = route
	params, bad := route.pathValues(values)
	if bad != nil {
		x.fail(bad)
		return
	}
	if bad := x.checkBody(r); bad != nil {
		x.fail(bad)
		return
	}
	form, bad := route.queryValues(r.URL.RawQuery)
	if bad != nil {
		x.fail(bad)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithValue(x.ctx, exchangeKey{}, x), e.cfg.Timeout)
	defer cancel()
	route.handle(x, x.forward(ctx, r, form), params)
}

// trimAPI takes the prefix /api off a path, under which existing clients call
// the same operations. The token paths keep it: it is part of their name.
func trimAPI(path string) string {
	if strings.HasPrefix(path, "/api/v") {
		return path[len("/api"):]
	}
	return path
}

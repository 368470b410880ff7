// Package gateway is the REST edge. It serves the HTTP API of the contracts and calls the services. It contains
// no code for single operations: the routes follow from the google.api.http rules and the options of the
// contracts.
//
// The edge decodes no messages. It turns a request's JSON into wire bytes, which travel as the unknown fields
// of an empty request message. It turns a response's bytes, which return in the same way, into JSON.
package gateway

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/gateway/bodymemory"
	"github.com/rotaloom/rotaloom/gateway/compression"
	"github.com/rotaloom/rotaloom/gateway/denials"
	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/gateway/metrics"
	"github.com/rotaloom/rotaloom/gateway/routing"
	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/gateway/upload"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/sizes"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Config contains the limits and settings of the edge. A zero value means the default.
type Config struct {
	sizes.Body
	sizes.Response
	// Timeout bounds a request, including the time to read its body; 60 s.
	Timeout time.Duration `name:"request-timeout" default:"60s" help:"Longest time of a request."`
	// HeaderTimeout bounds the time to read the headers of a request; 10 s.
	HeaderTimeout time.Duration `name:"header-timeout" default:"10s" help:"Longest time to receive the headers of a request."`
	// StallTimeout is how long a client may send nothing of a body that it began, or read nothing of its
	// response; 10 s.
	StallTimeout time.Duration `name:"stall-timeout" default:"10s" help:"Longest time for which a client may send nothing of a body, or read nothing of a response."`
	// MaxConnections is the number of connections that are open at a time; 10,000. Further connections wait
	// until one closes.
	MaxConnections int `name:"max-connections" default:"10000" help:"Connections that are open at a time; further ones wait."`
	// MaxHandshakes is the number of connections in their TLS handshake at a time; 2,000. HandshakesPerAddress
	// is the same number for one address (one /64 of IPv6), an eighth of MaxHandshakes; further connections of
	// the address are closed at once. HandshakeTimeout bounds a handshake; 5 s.
	MaxHandshakes        int           `name:"max-handshakes" default:"2000" help:"TLS handshakes that run at a time; further ones wait."`
	HandshakesPerAddress int           `name:"max-handshakes-per-address" help:"TLS handshakes of one address that run at a time; further connections are closed. Default: an eighth of max-handshakes."`
	HandshakeTimeout     time.Duration `name:"handshake-timeout" default:"5s" help:"Longest time of a TLS handshake."`
	// MaxInFlight is the number of requests that run at a time; 64 for each processor. The same number of token
	// requests runs beside them.
	MaxInFlight int `name:"max-in-flight" help:"Number of requests that run at a time. Default: 64 for each processor."`
	// MaxQueue is the number of requests that wait for a slot; twice MaxInFlight. Further requests are refused
	// with 503.
	MaxQueue int `name:"max-queue" help:"Number of requests that wait for a slot; further ones are refused with 503. Default: twice max-in-flight."`
	// QueueWait is the longest time that a request waits for a slot; 1 s.
	QueueWait time.Duration `name:"queue-wait" default:"1s" help:"Longest time that a request waits for a slot before it is refused."`
	// BodyMemory bounds the bytes of request bodies in memory at a time: 256 times the body limit, at most an
	// eighth of the memory limit of the process. All callers without a token share a quarter of it; one address
	// (one /64 of IPv6) gets at most a half, and one user an eighth.
	BodyMemory int64 `name:"body-memory" help:"Bytes of request bodies that are in memory at a time. Default: 256 times the body limit, at most an eighth of the memory limit."`
	// LargeBodies bounds the bytes of bodies larger than 32 KiB that are processed at a time; 1 MiB for each
	// processor. Further large bodies wait.
	LargeBodies int64 `name:"large-bodies" help:"Bytes of large request bodies that are processed at a time; further ones wait. Default: 1 MiB for each processor."`
	// StoredResponse is the size in bytes of the largest response that is stored for an Idempotency-Key; 256
	// KiB.
	StoredResponse int `name:"idempotency-response-limit" default:"262144" help:"Largest response in bytes that is stored for an Idempotency-Key."`
	// TrustedProxies are the addresses from which the edge accepts plain HTTP with X-Forwarded-Proto: https. By
	// default there are none, and the edge serves TLS only.
	TrustedProxies []netip.Prefix `name:"trusted-proxies" help:"Addresses (CIDR) of proxies that terminate TLS in front of the edge."`
	// Docs serves the API description and its page (/openapi.json, /openapi.yaml and /docs) to all clients. The
	// zero value does not.
	Docs bool `name:"docs" default:"true" negatable:"" help:"Serve the API description at /openapi.json and /docs, to all clients."`
	// Throttle limits the request rates of clients; the zero value does not.
	Throttle throttle.Config `embed:""`
	// Tokens are the settings for verifying tokens, by which the edge identifies the clients whose rates it
	// limits.
	Tokens authn.TokenSettings `kong:"-"`
	// Clock returns the current time.
	Clock clock.Clock `kong:"-"`
	// Metrics is the registry of the edge's metrics; nil means a private one.
	Metrics prometheus.Registerer `kong:"-"`
}

func (c Config) withDefaults() Config {
	c = defaults.Fill(c)
	c.Body, c.Response = defaults.Fill(c.Body), defaults.Fill(c.Response)
	if c.HandshakesPerAddress <= 0 {
		c.HandshakesPerAddress = max(c.MaxHandshakes/partOfAddress, 1)
	}
	c.StoredResponse = min(c.StoredResponse, maxStoredResponse)
	return c.withInFlight()
}

// Edge serves the HTTP API. It is an http.Handler and safe for concurrent use.
type Edge struct {
	cfg       Config
	log       *slog.Logger
	metrics   *metrics.Edge
	routes    routing.Router
	admission *admission
	bodies    *bodymemory.Memory
	denials   *denials.Recorder
	handler   http.Handler
	// stopping ends when the server begins to stop.
	stopping context.Context
	stop     context.CancelFunc
}

// New returns an edge over the services. It fails if a contract describes a route that the edge cannot serve,
// or if a connection is missing.
func New(cfg Config, conns backends.Conns, log *slog.Logger) (*Edge, error) {
	verifier, err := newVerifier(cfg, conns)
	if err != nil {
		return nil, err
	}
	return newEdge(cfg, conns, verifier, newThrottler(cfg, conns, log), log)
}

// newEdge returns an edge that authenticates callers with verifier and limits their rates with throttler.
// Without a verifier, only the services authenticate; without a throttler, rates are not limited.
func newEdge(cfg Config, conns backends.Conns, verifier *authn.Verifier, throttler *throttle.Throttler, log *slog.Logger) (*Edge, error) {
	if log == nil {
		return nil, errors.New("an edge needs a log")
	}
	if cfg.Clock == nil {
		return nil, errors.New("an edge needs a clock")
	}
	if cfg.Metrics == nil {
		cfg.Metrics = prometheus.NewRegistry()
	}
	e := &Edge{cfg: cfg.withDefaults(), log: log}
	e.stopping, e.stop = context.WithCancel(context.Background())
	var err error
	if e.metrics, err = metrics.New(e.cfg.Metrics); err != nil {
		return nil, err
	}
	if err := e.register(backends.Domains(conns)); err != nil {
		return nil, err
	}
	e.admission, e.bodies = newAdmission(e.cfg, e.metrics), e.newBodies()
	var keys platformv1.IdempotencyServiceClient
	if conns.Own != nil {
		keys = platformv1.NewIdempotencyServiceClient(conns.Own)
		if e.denials, err = denials.New(conns.Own, cfg.Clock, log, e.cfg.Metrics); err != nil {
			return nil, err
		}
	}
	e.handler = e.chain(verifier, throttler, keys)
	return e, nil
}

// newBodies returns the memory for bodies. The shares of callers have room for the largest file of a route, in a
// buffer with some bytes to detect its end.
func (e *Edge) newBodies() *bodymemory.Memory {
	largest := int64(1)
	for r := range e.routes.All() {
		if r.Upload != nil {
			largest = max(largest, upload.NewBody(r.Upload).Limit()+bytes.MinRead)
		}
	}
	return bodymemory.New(e.cfg.BodyMemory, max(e.cfg.LargeBodies, e.cfg.BodyLimit), largest)
}

// chain returns the steps of a request, in order.
func (e *Edge) chain(verifier *authn.Verifier, throttler *throttle.Throttler, keys platformv1.IdempotencyServiceClient) http.Handler {
	cfg, rejecter := e.cfg, rejecter{&listener.BodyDrainer{}}
	trusted := headers.Proxies(cfg.TrustedProxies)
	callers := &identification{verifier: verifier, throttler: throttler, metrics: e.metrics, denials: e.denials, proxies: trusted}
	body := &bodyReader{
		limit: cfg.BodyLimit, stall: cfg.StallTimeout, timeout: cfg.Timeout, stopping: e.stopping,
		bodies: e.bodies, metrics: e.metrics, proxies: trusted, rejecter: rejecter,
	}
	idempotent := &idempotency{keys: keys, lease: cfg.Timeout + leaseMargin, maxStored: cfg.StoredResponse, log: e.log}
	service := &calls{responseLimit: cfg.MaxResponse, proxies: trusted, verifier: verifier}

	var steps []step
	if cfg.Docs {
		pages := &docs{rejecter: rejecter, proxies: trusted, callers: callers}
		steps = append(steps, pages.serve) // the API description
	}
	steps = append(steps,
		rejecter.step(requireTLS(trusted)), // 403: plain HTTP
		rejecter.step(e.lookup),            // finds the operation
		rejecter.step(callers.check),       // 401, 429: identifies the caller, and checks the caller's rate
		rejecter.step(e.requireRoute),      // 404, 405: no such operation
		rejecter.step(e.bindPath),          // 404: a path value that cannot exist
		rejecter.step(body.check),          // 413, 415: the declared type and size of the body
		rejecter.step(bindQuery),           // 400: the query parameters
		rejecter.step(bindCondition),       // 400: the If-Match
		rejecter.step(bindPreference),      // never refuses: the time to wait
		body.read,                          // 408, 413, 503: reads the whole body, before the request takes a slot
		body.limitLarge,                    // 503: bounds the large bodies in work
		e.admission.admit,                  // 503: bounds the running requests
		deadline(cfg.Timeout),              // 504: bounds the time
		idempotent.runOnce,                 // 409: runs each Idempotency-Key once
	)
	return compression.Handler(&accessLog{
		next: inOrder(service.serve, steps...), log: e.log, metrics: e.metrics, stall: cfg.StallTimeout, timeout: cfg.Timeout,
		docs: cfg.Docs,
	})
}

// ServeHTTP serves one request.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.handler.ServeHTTP(w, r) }

// register adds the routes of all services.
func (e *Edge) register(domains []backends.Domain) error {
	policies := policy.NewTable(nil)
	// The generated handlers need the runtime's mux. Its own routing is not used: it tries the pattern that was
	// registered last first, so that {id} would hide literal paths.
	var generated []runtime.HandlerFunc
	mux := runtime.NewServeMux(append(muxOptions(), runtime.WithMiddlewares(
		func(next runtime.HandlerFunc) runtime.HandlerFunc {
			generated = append(generated, next)
			return next
		}))...)
	for _, d := range domains {
		if d.Conn == nil {
			return errors.New("the edge has no connection to the domain " + d.Name)
		}
		conn := transcodingConn{conn: d.Conn, responseLimit: e.cfg.MaxResponse}
		for _, s := range d.Services {
			generated = generated[:0]
			if err := s.Register(context.Background(), mux, conn); err != nil {
				return err
			}
			if err := e.routes.AddService(s.Name, generated, policies); err != nil {
				return err
			}
		}
	}
	return nil
}

func muxOptions() []runtime.ServeMuxOption {
	never := func(string) (string, bool) { return "", false }
	return []runtime.ServeMuxOption{
		runtime.WithMarshalerOption(runtime.MIMEWildcard, marshaler{}),
		runtime.WithIncomingHeaderMatcher(never),
		runtime.WithOutgoingHeaderMatcher(never),
		runtime.WithOutgoingTrailerMatcher(never),
		runtime.WithErrorHandler(writeError),
		runtime.WithForwardResponseOption(prepareResponse),
		runtime.WithForwardResponseRewriter(bindReply),
		runtime.WithWriteContentLength(),
	}
}

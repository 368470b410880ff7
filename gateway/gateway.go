// Package gateway is the REST edge: it serves the HTTP API that the contracts
// describe, and calls the services for it. It knows no operation by name: what
// there is follows from the google.api.http rules and the options of the
// contracts.
//
// The edge builds no messages. A request's JSON becomes wire bytes, which
// travel as the unknown fields of an empty request message; a response's bytes
// come back the same way and become JSON.
package gateway

import (
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
	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/gateway/listener"
	"github.com/rotaloom/rotaloom/gateway/metrics"
	"github.com/rotaloom/rotaloom/gateway/routing"
	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/denial"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/sizes"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Config bounds and tunes the edge. Zero values mean the defaults.
type Config struct {
	sizes.Body
	sizes.Response
	// Timeout is how long a request may take, the reading of its body
	// included; 60 s.
	Timeout time.Duration `name:"request-timeout" default:"60s" help:"Time that a request may take."`
	// HeaderTimeout is how long the headers of a request may take; 10 s.
	HeaderTimeout time.Duration `name:"header-timeout" default:"10s" help:"Time that the headers of a request may take."`
	// StallTimeout is how long a client may send nothing of a body that it
	// began, or take nothing of its response; 10 s.
	StallTimeout time.Duration `name:"stall-timeout" default:"10s" help:"Time for which a client may send or take nothing."`
	// MaxConnections is how many connections are open at a time; 10,000. More wait
	// until others end.
	MaxConnections int `name:"max-connections" default:"10000" help:"Connections that are open at a time; more wait."`
	// MaxHandshakes is how many of them are in their TLS handshake at a time;
	// 2,000. HandshakesPerAddress is how many of those are of one address (one /64
	// of IPv6), an eighth of them; more are ended at once. HandshakeTimeout is how
	// long one may take; 5 s.
	MaxHandshakes        int           `name:"max-handshakes" default:"2000" help:"TLS handshakes that run at a time; more wait."`
	HandshakesPerAddress int           `name:"max-handshakes-per-address" help:"TLS handshakes of one address that run at a time, more are ended; an eighth of all when absent."`
	HandshakeTimeout     time.Duration `name:"handshake-timeout" default:"5s" help:"Time that a TLS handshake may take."`
	// MaxInFlight is how many requests run at a time; 64 for each processor.
	// As many token requests run beside them.
	MaxInFlight int `name:"max-in-flight" help:"Number of requests that run at a time; 64 for each processor when absent."`
	// MaxQueue is how many requests wait for a place among those that run;
	// twice their number. More are refused with 503.
	MaxQueue int `name:"max-queue" help:"Number of requests that wait; twice as many as run when absent."`
	// QueueWait is how long a request waits, at most; 1 s.
	QueueWait time.Duration `name:"queue-wait" default:"1s" help:"Time that a request waits for others, before it is refused."`
	// BodyMemory bounds the bodies that are held at a time, in bytes; 256 of
	// the largest size, and not more than an eighth of the memory limit of the
	// process. Callers without a token have a quarter of it together; of one address
	// (one /64 of IPv6) come at most a half, and from one user an eighth.
	BodyMemory int64 `name:"body-memory" help:"Bytes of request bodies that are held at a time; 256 times the body limit when absent, and an eighth of the memory limit at most."`
	// LargeBodies bounds the bytes of bodies larger than 32 KiB that are worked on at
	// a time; 1 MiB for each processor. More wait.
	LargeBodies int64 `name:"large-bodies" help:"Bytes of large request bodies that are worked on at a time, more wait; 1 MiB for each processor when absent."`
	// StoredResponse is the size of the largest response that is remembered for an
	// Idempotency-Key, in bytes; 256 KiB.
	StoredResponse int `name:"idempotency-response-limit" default:"262144" help:"Largest response in bytes that is remembered for an Idempotency-Key."`
	// TrustedProxies are the addresses whose X-Forwarded-Proto: https is
	// believed when a request comes over plain HTTP. Without them, and that is
	// the default, only TLS is served.
	TrustedProxies []netip.Prefix `name:"trusted-proxies" help:"Addresses (CIDR) of proxies that end TLS in front of the edge."`
	// Docs is whether the API description and its page, /openapi.json,
	// /openapi.yaml and /docs, are served, to anybody; not at its zero value.
	Docs bool `name:"docs" default:"true" negatable:"" help:"Serve the API description at /openapi.json and /docs, to anybody."`
	// Throttle holds clients to their rates; off at its zero value.
	Throttle throttle.Config `embed:""`
	// Tokens are the settings of the tokens by which clients are known that shall be
	// held to their rates.
	Tokens authn.TokenSettings `kong:"-"`
	// Clock gives the present.
	Clock clock.Clock `kong:"-"`
	// Metrics is where the edge registers what it counts; nowhere when it is nil.
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
	denials   denials
	handler   http.Handler
}

// New makes an edge over the services. It fails when a contract describes a
// route that the edge cannot serve, or when a connection is missing.
func New(cfg Config, conns backends.Conns, log *slog.Logger) (*Edge, error) {
	verifier, err := newVerifier(cfg, conns)
	if err != nil {
		return nil, err
	}
	return newEdge(cfg, conns, verifier, newThrottler(cfg, conns, log), log)
}

// newEdge makes an edge that knows callers by a verifier, and holds them to their rates
// by a throttler. Without the first it leaves it to the services who is let in; without
// the second, nobody is throttled.
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
	var err error
	if e.metrics, err = metrics.New(e.cfg.Metrics); err != nil {
		return nil, err
	}
	e.admission, e.bodies = newAdmission(e.cfg, e.metrics), bodymemory.New(e.cfg.BodyMemory, max(e.cfg.LargeBodies, e.cfg.BodyLimit))
	if err := e.register(backends.Domains(conns)); err != nil {
		return nil, err
	}
	e.denials.clock = cfg.Clock
	var keys platformv1.IdempotencyServiceClient
	if conns.Own != nil {
		keys = platformv1.NewIdempotencyServiceClient(conns.Own)
		if e.denials.Aggregator, err = denial.New(recordDenials(conns.Own), log, e.cfg.Metrics); err != nil {
			return nil, err
		}
	}
	e.handler = e.chain(verifier, throttler, keys)
	return e, nil
}

// chain is the way of a request, in order.
func (e *Edge) chain(verifier *authn.Verifier, throttler *throttle.Throttler, keys platformv1.IdempotencyServiceClient) http.Handler {
	cfg, refusals := e.cfg, refusals{&listener.BodyDrainer{}}
	trusted := headers.Proxies(cfg.TrustedProxies)
	callers := &identification{verifier: verifier, throttler: throttler, metrics: e.metrics, denials: e.denials, proxies: trusted}
	body := &bodyReader{
		limit: cfg.BodyLimit, stall: cfg.StallTimeout, timeout: cfg.Timeout,
		bodies: e.bodies, metrics: e.metrics, proxies: trusted, refusals: refusals,
	}
	idempotent := &idempotency{keys: keys, lease: cfg.Timeout + leaseMargin, maxStored: cfg.StoredResponse, log: e.log}
	service := &calls{responseLimit: cfg.MaxResponse, proxies: trusted, verifier: verifier}

	var steps []step
	if cfg.Docs {
		pages := &docs{refusals: refusals, proxies: trusted, callers: callers}
		steps = append(steps, pages.serve) // the API description
	}
	steps = append(steps,
		refusals.unless(requireTLS(trusted)), // 403: plain HTTP
		refusals.unless(e.lookup),            // which operation is asked for?
		refusals.unless(callers.check),       // 401, 429: who is calling, and is anything left of their rate?
		refusals.unless(routed),              // 404, 405: there is no such operation
		refusals.unless(bindPath),            // 404: the path names nothing
		refusals.unless(body.check),          // 413, 415: what is known of the body before it is read
		refusals.unless(bindQuery),           // 400: the parameters of the query
		refusals.unless(bindCondition),       // 400: the version that is meant
		body.read,                            // 408, 413, 503: all of the body, before others have to wait for it
		body.limitLarge,                      // 503: few large bodies at a time
		e.admission.admit,                    // 503: so many requests at a time
		deadline(cfg.Timeout),                // 504: for so long
		idempotent.once,                      // 409: once for each Idempotency-Key
	)
	return &accessLog{
		next: inOrder(service.serve, steps...), log: e.log, metrics: e.metrics, stall: cfg.StallTimeout, timeout: cfg.Timeout,
	}
}

// ServeHTTP serves one request.
func (e *Edge) ServeHTTP(w http.ResponseWriter, r *http.Request) { e.handler.ServeHTTP(w, r) }

// register adds the routes of all services.
func (e *Edge) register(domains []backends.Domain) error {
	policies := policy.NewTable(nil)
	// The runtime's mux is what the generated handlers work with. Its own
	// routing is not used: it tries the pattern that was registered last first,
	// and so lets {id} hide the literal paths that are registered before it.
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

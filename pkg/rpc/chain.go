// Package rpc serves and calls our gRPC services. It has one interceptor chain for every call, the
// server and the client connections around it, and a connection that passes the same chain inside
// one process.
package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
)

// Config bounds the calls of one service. Zero values mean the defaults.
type Config struct {
	// Deadline is the time limit of a call that brings no deadline; 60 s.
	Deadline time.Duration `name:"rpc-deadline" default:"60s" help:"Time that a call without a deadline may take."`
	// MaxDeadline shortens the deadline that a call brings; 5 min.
	MaxDeadline time.Duration `name:"rpc-max-deadline" default:"5m" help:"Longest time that a call may take."`
	// MaxInFlight is the number of calls that run at a time; 1,024. Further calls are rejected.
	MaxInFlight int `name:"rpc-max-in-flight" default:"1024" help:"Number of calls that run at a time."`
	client.Sizes
	// Clients are the certificate names that may connect over TLS.
	Clients []string `name:"rpc-clients" help:"Certificate names of the clients that may connect."`
	// Services are the Clients that are our own services, as "service" or "service=certificate
	// name". Each may call without a user the operations that the contract opens to it. An edge is
	// not a service.
	Services []string `name:"rpc-services" help:"Services that may call what the contract lets them: service, or service=certificate name."`
	// Edges are the Clients that call for users. For themselves, edges may call only the operations
	// between services that are open to edges. All their other calls need the token and the
	// permission of the user.
	Edges []string `name:"rpc-edges" help:"Certificate names of the edges, which call for users, and for themselves only the operations that are open to edges."`
}

func (c Config) withDefaults() Config {
	c = defaults.Fill(c)
	c.Sizes = c.Sizes.WithDefaults()
	return c
}

// Deps are the dependencies of a chain.
type Deps struct {
	Log      *slog.Logger
	Metrics  prometheus.Registerer
	Verifier *authn.Verifier
	Clock    clock.Clock
	// Policies finds the policies of methods; nil means the policies of the contracts that are
	// linked into the program.
	Policies *policy.Table
	// Explain turns an error that is not a fault into one, or returns nil: callers then get a plain
	// 500. A nil Explain explains no error.
	Explain func(error) *fault.Error
	// Clocks sets the clock of the tenant in the contexts of calls. nil means the real time.
	Clocks *tenantclock.Clocks
	// Audit binds the caller to the changes of a call; nil records nothing.
	Audit Audit
	// Trusts reports whether a service may call an operation without the permission that a user
	// needs; nil means the callers in the contract. Tests of handlers trust every service.
	Trusts func(service string, method *policy.Method) bool
	// Writable returns a fault while the service accepts no calls that change data; nil means that
	// it always does.
	Writable func(ctx context.Context) error
	// Denied receives the denials of calls from outside; nil drops them.
	Denied Denied
}

// Chain is the list of interceptors that every call of one service passes,
// over the network and in process.
type Chain struct {
	cfg          Config
	log          *slog.Logger
	verifier     *authn.Verifier
	clock        clock.Clock
	policies     *policy.Table
	explain      func(error) *fault.Error
	clocks       *tenantclock.Clocks
	auditContext Audit
	reportDenial Denied
	writable     func(ctx context.Context) error
	metrics      *metrics
	clients      map[string]bool
	services     map[string]string // by the names of their certificates
	trusts       func(service string, method *policy.Method) bool
	edges        map[string]bool

	methods sync.Map // full method name -> *method
	run     handler

	rejected rejectedClients

	inFlight atomic.Int64
	draining atomic.Bool
	idle     chan struct{}
}

// A call is one request on its way through the chain.
type call struct {
	*method
	// metadata is the request's; it is read only.
	metadata metadata.MD
	// decode reads the request and continues with it. It is called once the caller is known.
	decode func(ctx context.Context, next grpc.UnaryServerInterceptor) (any, error)
	// handle is the method itself; it is set once the request is read.
	handle grpc.UnaryHandler
	// principal is set by the step that authenticates.
	principal *authn.Principal
	// outside means that the call did not come from one of our services.
	outside bool
	// watched collects notes about the call for the audit log; nil if the chain reports no denials,
	// and for services.
	watched *authn.Watched
	// err is the error before it became a status; it is for the log.
	err error
	// stopping means that the call was rejected because the service stops. That is not an error.
	stopping bool
	// took is how long the call took, once it has ended.
	took time.Duration
}

// A handler runs the rest of a call.
type handler func(ctx context.Context, c *call, req any) (any, error)

// A step is one interceptor. Steps are composed once, so that each costs one function call.
type step struct {
	name string
	wrap func(next handler) handler
}

// NewChain returns the chain of a service.
func NewChain(cfg Config, deps Deps) (*Chain, error) {
	if deps.Log == nil || deps.Metrics == nil || deps.Verifier == nil || deps.Clock == nil {
		return nil, errors.New("an interceptor chain needs a log, metrics, a verifier and a clock")
	}
	if deps.Policies == nil {
		deps.Policies = policy.NewTable(nil)
	}
	if deps.Explain == nil {
		deps.Explain = func(error) *fault.Error { return nil }
	}
	if deps.Trusts == nil {
		deps.Trusts = func(service string, m *policy.Method) bool { return slices.Contains(m.Callers, service) }
	}
	metrics, err := newMetrics(deps.Metrics)
	if err != nil {
		return nil, err
	}
	ch := &Chain{
		rejected: newRejectedClients(deps.Clock),
		cfg:      cfg.withDefaults(), log: deps.Log, verifier: deps.Verifier, clock: deps.Clock,
		policies: deps.Policies, explain: deps.Explain, clocks: deps.Clocks, auditContext: deps.Audit, reportDenial: deps.Denied, writable: deps.Writable, metrics: metrics,
		clients: set(cfg.Clients), services: servicesByCertificate(cfg.Services), trusts: deps.Trusts, edges: set(cfg.Edges),
		idle: make(chan struct{}, 1),
	}
	ch.run = func(ctx context.Context, c *call, req any) (any, error) { return c.handle(ctx, req) }
	steps := ch.steps()
	for i := len(steps) - 1; i >= 0; i-- {
		ch.run = steps[i].wrap(ch.run)
	}
	return ch, nil
}

// steps is the one list of interceptors, outermost first.
func (ch *Chain) steps() []step {
	return []step{
		{"request id", ch.requestID},
		{"access log", ch.accessLog},
		{"metrics", ch.measure},
		{"denials", ch.noteDenial},
		{"recover", ch.recoverPanic},
		{"fault to status", ch.faultToStatus},
		{"deadline", ch.deadline},
		{"in-flight limit", ch.limitInFlight},
		{"authentication", ch.authenticate},
		{"authorization", ch.authorize},
		{"writable", ch.refuseWrites},
		{"tenant clock", ch.setTenantClock},
		{"precondition", ch.bindCondition},
		{"preference", ch.bindPreference},
		{"request", ch.readRequest},
		{"values", ch.checkValues},
		{"wages", ch.guardWages},
		{"audit", ch.audit},
	}
}

// serve returns the handler of a method that passes the chain. The generated handler would read the
// request first. Here a step in the middle of the chain calls it, so that requests of rejected
// clients are never read.
func (ch *Chain) serve(fullMethod string, generated grpc.MethodHandler) grpc.MethodHandler {
	m := ch.method(fullMethod)
	return func(impl any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		c := &call{method: m, metadata: requestMetadata(ctx)}
		c.decode = func(ctx context.Context, next grpc.UnaryServerInterceptor) (any, error) {
			return generated(impl, ctx, decode, next)
		}
		return ch.run(ctx, c, nil)
	}
}

// withChain returns the description of a service whose methods pass the chain.
func (ch *Chain) withChain(desc *grpc.ServiceDesc) *grpc.ServiceDesc {
	chained := *desc
	chained.Methods = make([]grpc.MethodDesc, len(desc.Methods))
	for i, m := range desc.Methods {
		chained.Methods[i] = grpc.MethodDesc{
			MethodName: m.MethodName, Handler: ch.serve("/"+desc.ServiceName+"/"+m.MethodName, m.Handler),
		}
	}
	return &chained
}

// Drain rejects new calls and waits until the running calls have ended, or until ctx ends.
func (ch *Chain) Drain(ctx context.Context) error {
	ch.draining.Store(true)
	for ch.inFlight.Load() > 0 {
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d calls still run: %w", ch.inFlight.Load(), ctx.Err())
		case <-ch.idle:
		}
	}
	return nil
}

func set(names []string) map[string]bool {
	out := make(map[string]bool, len(names))
	for _, name := range names {
		out[name] = true
	}
	return out
}

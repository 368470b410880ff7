// Package serve puts a service together with what it needs: its database, the
// broker, and the chain of interceptors before it. The programs of the
// services and the standalone program share it, and differ only in where the
// connections lead.
package serve

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/denial"
	"github.com/rotaloom/rotaloom/pkg/domain/authclient"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/revocation"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	auditv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/audit/v1"
)

// Service is what every domain's service offers.
type Service interface {
	// Register adds the operations to a server.
	Register(server grpc.ServiceRegistrar)
	// Run does the work that no request asks for, until ctx ends.
	Run(ctx context.Context) error
	// Check says why the service cannot do its work, or nil.
	Check(ctx context.Context) error
}

// relayer is a service with an outbox.
type relayer interface {
	Relay(ctx context.Context) error
}

// continuing is a service whose work goes on while its database counts as restored: it
// neither gives ids nor changes what shows what was lost.
type continuing interface {
	ContinuesWhileRestored()
}

// Add makes a service part of a program: its work, its outbox and its
// readiness. The work pauses while the guard refuses writes.
func Add(app *boot.App, name string, s Service, guard *restore.Guard) {
	pause := guard.Pause
	if _, goesOn := s.(continuing); goesOn {
		pause = func(run func(context.Context) error) func(context.Context) error { return run }
	}
	app.Go(boot.StageConsumers, name, pause(s.Run))
	if r, ok := s.(relayer); ok {
		app.Go(boot.StageRelay, name+" relay", pause(r.Relay))
	}
	app.Ready.Add(name, s.Check)
}

// Guard makes what keeps the ids of a service's database from being given twice, and runs
// it with the program.
func Guard(app *boot.App, service string, pool *pg.Pool, broker *nats.Conn, registry prometheus.Registerer, log *slog.Logger) (*restore.Guard, error) {
	guard, err := restore.New(restore.Options{Service: service, Pool: pool, NATS: broker, Log: log, Registry: registry})
	if err != nil {
		return nil, err
	}
	app.Go(boot.StageRelay, "marks of "+service, guard.Run)
	app.Ready.AddNotice("database "+service, guard.Notice)
	return guard, nil
}

// Database brings a service's database up to date and opens it. It is closed
// with the program.
func Database(ctx context.Context, app *boot.App, cfg pg.Config, registry prometheus.Registerer, log *slog.Logger, sets ...pg.Migrations) (*pg.Pool, error) {
	if err := pg.Migrate(ctx, cfg, log, sets...); err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	pool, err := pg.Open(ctx, cfg, log)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	app.OnClose("database", func(context.Context) error { pool.Close(); return nil })
	return pool, registry.Register(pg.Collector(pool))
}

// Trail removes the audit events of a service that are too old. It returns what
// keeps there what callers are refused.
func Trail(app *boot.App, cfg audit.Config, pool *pg.Pool, registry prometheus.Registerer, log *slog.Logger) (*denial.Aggregator, error) {
	app.Go(boot.StageConsumers, "audit trail", audit.NewSweeper(cfg, pool, app.Clock, log).Run)
	refusals, err := denial.New(audit.RecordDenials(pool), log, registry)
	if err == nil {
		app.Go(boot.StageRelay, "audit of refusals", refusals.Run)
	}
	return refusals, err
}

// Register adds the operations of a service to a server, and those that every
// service has.
func Register(server grpc.ServiceRegistrar, s Service, pool *pg.Pool) {
	s.Register(server)
	auditv1.RegisterAuditTrailServiceServer(server, audit.NewTrail(pool))
}

// Broker connects to NATS. The connection is drained with the program.
func Broker(app *boot.App, cfg natsconn.Config, name string, log *slog.Logger, more ...nats.Option) (*nats.Conn, error) {
	conn, err := natsconn.Connect(cfg, name, log, more...)
	if err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	app.Go(boot.StageRelay, "broker", func(ctx context.Context) error { return natsconn.Watch(ctx, conn) })
	app.OnClose("broker", func(ctx context.Context) error { return natsconn.Drain(ctx, conn) })
	return conn, nil
}

// Revocations makes the program's view of the tokens that the auth service
// revoked, and keeps it up to date.
func Revocations(app *boot.App, cfg revocation.Config, auth grpc.ClientConnInterface, broker *nats.Conn, log *slog.Logger) (*revocation.View, error) {
	view, err := revocation.New(cfg, revocation.Deps{
		Auth: authclient.Revocations(auth), NATS: broker, Clock: app.Clock, Log: log,
	})
	if err != nil {
		return nil, err
	}
	app.Ready.Add("revocations", view.Check)
	app.Go(boot.StageRelay, "revocations", view.Run)
	return view, nil
}

// Chain makes the interceptors of a service that accepts tokens of one
// issuer, whose keys come from keys, but for those that were revoked. What it
// refuses is gathered in refusals; the guard says whether it may change data.
func Chain(cfg rpc.Config, tokens authn.Config, keys authn.KeySource, revocations authn.Revocations, refusals *denial.Aggregator, guard *restore.Guard, clk clock.Clock, log *slog.Logger, registry prometheus.Registerer) (*rpc.Chain, error) {
	verifier, err := authn.NewVerifier(tokens, keys, revocations, clk)
	if err != nil {
		return nil, err
	}
	return rpc.NewChain(cfg, rpc.Deps{
		Log: log, Metrics: registry, Verifier: verifier, Clock: clk, Explain: pgerr.Fault,
		Audit: audit.Begin(clk), Denied: audit.NoteDenials(refusals, clk), Writable: guard.CheckWrite,
	})
}

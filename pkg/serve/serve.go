// Package serve assembles a service with its database, its broker connection and its chain of
// interceptors. The programs of the services and the standalone program share it; they differ only
// in their connections.
package serve

import (
	"cmp"
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
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
	auditv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/audit/v1"
)

// Service is implemented by the service of every domain.
type Service interface {
	// Register adds the operations to a server.
	Register(server grpc.ServiceRegistrar)
	// Run does the work that no request triggers, until ctx ends.
	Run(ctx context.Context) error
	// Check returns an error if the service cannot work.
	Check(ctx context.Context) error
}

// relayer is a service with an outbox.
type relayer interface {
	Relay(ctx context.Context) error
}

// continuing is a service that continues to work while its database counts as restored: it gives no
// ids, and does not change data that shows the loss.
type continuing interface {
	ContinuesWhileRestored()
}

// Add adds a service to a program: its work, its outbox and its readiness check. The work pauses
// while the guard refuses writes.
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

// Guard creates the guard of a service's database and runs it with the program.
func Guard(app *boot.App, service string, pool *pg.Pool, broker *nats.Conn, registry prometheus.Registerer, log *slog.Logger) (*restore.Guard, error) {
	guard, err := restore.New(restore.Options{Service: service, Pool: pool, NATS: broker, Log: log, Registry: registry})
	if err != nil {
		return nil, err
	}
	app.Go(boot.StageRelay, "watermarks of "+service, guard.Run)
	app.Ready.AddNotice("database "+service, guard.Notice)
	return guard, nil
}

// Database migrates and opens a service's database, as soon as the database responds. The program
// closes it when it ends.
func Database(ctx context.Context, app *boot.App, cfg pg.Config, registry prometheus.Registerer, log *slog.Logger, sets ...pg.Migrations) (*pg.Pool, error) {
	cfg.Outages, cfg.StartupWait = app.Outages, cmp.Or(cfg.StartupWait, pg.UntilReachable)
	app.Outages.Recognize("PostgreSQL", pgerr.Unavailable)
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

// StartAudit runs the removal of a service's old audit events. It returns the aggregator that
// stores the denials of requests in the audit log.
func StartAudit(app *boot.App, cfg audit.Config, pool *pg.Pool, registry prometheus.Registerer, log *slog.Logger) (*denial.Aggregator, error) {
	app.Go(boot.StageConsumers, "audit log", audit.NewSweeper(cfg, pool, app.Clock, log).Run)
	denials, err := denial.New(audit.RecordDenials(pool), log, registry)
	if err == nil {
		app.Go(boot.StageRelay, "audit of denials", denials.Run)
	}
	return denials, err
}

// Register adds the operations of a service to a server, and those that every service has.
func Register(server grpc.ServiceRegistrar, s Service, pool *pg.Pool) {
	s.Register(server)
	auditv1.RegisterAuditTrailServiceServer(server, audit.NewLogServer(pool))
}

// Broker connects to NATS. The program drains the connection when it ends.
func Broker(app *boot.App, cfg natsconn.Config, name string, log *slog.Logger, more ...nats.Option) (*nats.Conn, error) {
	app.Outages.Recognize("NATS", natsconn.Unavailable)
	conn, err := natsconn.Connect(cfg, name, log, more...)
	if err != nil {
		return nil, fmt.Errorf("broker: %w", err)
	}
	app.Go(boot.StageRelay, "broker", func(ctx context.Context) error { return natsconn.Watch(ctx, conn) })
	app.OnClose("broker", func(ctx context.Context) error { return natsconn.Drain(ctx, conn) })
	return conn, nil
}

// Revocations creates the program's view of the revoked tokens, and keeps it up to date.
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

// Chain returns the interceptors of a service. It accepts tokens of one issuer, verifies them with
// keys, and rejects revoked ones. It passes denials to the aggregator; the guard decides whether
// the service may change data. Calls of sandboxes get the time on the clocks of their tenants.
func Chain(cfg rpc.Config, tokens authn.Config, keys authn.KeySource, revocations authn.Revocations, denials *denial.Aggregator, guard *restore.Guard, clk clock.Clock, clocks *tenantclock.Clocks, log *slog.Logger, registry prometheus.Registerer) (*rpc.Chain, error) {
	verifier, err := authn.NewVerifier(tokens, keys, revocations, clk)
	if err != nil {
		return nil, err
	}
	return rpc.NewChain(cfg, rpc.Deps{
		Log: log, Metrics: registry, Verifier: verifier, Clock: clk, Clocks: clocks, Explain: pgerr.Fault,
		Audit: audit.Begin(clk), Denied: audit.NoteDenials(denials, clk), Writable: guard.CheckWrite,
	})
}

package node

import (
	"context"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/gateway"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/commons"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/standalone/internal/natsd"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

// house is what the services of the process share.
type house struct {
	cfg       Config
	app       *boot.App
	databases *privatepg.Databases
	broker    *natsd.Broker
	tokens    authn.Config
	// keys verify tokens: those of the auth service in this process.
	keys authn.KeySource
}

// startServices starts the database and the broker, and makes the services
// parts of the process, from the lowest to the highest.
func startServices(ctx context.Context, cfg Config, app *boot.App, folder *state.Folder, credentials state.Credentials) (gateway.Conns, error) {
	var conns gateway.Conns
	h := &house{cfg: cfg, app: app, tokens: authn.Config{Issuer: cfg.Auth.Issuer, Audience: cfg.Auth.Audience}}
	if err := h.startEngines(ctx, folder); err != nil {
		return conns, err
	}
	authService, err := h.startAuth(ctx, credentials)
	if err != nil {
		return conns, err
	}
	commonsService, err := h.startCommons(ctx, authService)
	if err != nil {
		return conns, err
	}
	timekeepingService, err := h.startTimekeeping(ctx, commonsService)
	if err != nil {
		return conns, err
	}
	schedulingService, err := h.startScheduling(ctx, commonsService, timekeepingService)
	if err != nil {
		return conns, err
	}
	return gateway.Conns{
		Auth: authService, Commons: commonsService, Timekeeping: timekeepingService, Scheduling: schedulingService,
	}, nil
}

func (h *house) startEngines(ctx context.Context, folder *state.Folder) (err error) {
	h.databases, err = privatepg.Start(ctx, h.cfg.Database, folder.Path("postgresql"), h.app.Log.With("part", "postgresql"),
		"auth", "commons", "timekeeping", "scheduling")
	if err != nil {
		return err
	}
	h.app.OnClose("PostgreSQL", h.databases.Stop)
	h.broker, err = natsd.Start(h.cfg.NATS, folder.Path("nats"), h.app.Log.With("part", "nats"))
	if err != nil {
		return err
	}
	h.app.OnClose("NATS", func(context.Context) error { h.broker.Stop(); return nil })
	return nil
}

// room is what one service works with.
type room struct {
	pool     *pgxpool.Pool
	broker   *nats.Conn
	log      *slog.Logger
	registry prometheus.Registerer
}

func (h *house) room(ctx context.Context, name string, sets []pg.Migrations) (*room, error) {
	r := &room{log: h.app.Log.With("service", name), registry: obs.ForService(h.app.Registry, name)}
	var err error
	r.pool, err = serve.Database(ctx, h.app, pg.Config{URL: h.databases.URL(name)}, r.registry, r.log, sets...)
	if err != nil {
		return nil, err
	}
	if r.broker, err = h.broker.Connect(name); err != nil {
		return nil, err
	}
	h.app.OnClose("connection to NATS", func(context.Context) error { return r.broker.Drain() })
	return r, nil
}

// open makes a service part of the process, and answers the way to it.
func (h *house) open(name string, r *room, s serve.Service) (*rpc.Local, error) {
	chain, err := serve.Chain(rpc.Config{}, h.tokens, h.keys, r.log, r.registry)
	if err != nil {
		return nil, err
	}
	local := rpc.NewLocal(chain)
	s.Register(local)
	serve.Add(h.app, name, s)
	h.app.Go(boot.StageServers, name+" calls", func(ctx context.Context) error {
		<-ctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		return chain.Drain(drain)
	})
	return local, nil
}

func (h *house) startAuth(ctx context.Context, credentials state.Credentials) (*rpc.Local, error) {
	r, err := h.room(ctx, "auth", auth.Migrations())
	if err != nil {
		return nil, err
	}
	service, err := auth.New(ctx, h.cfg.Auth, auth.Deps{
		Pool: r.pool, Log: r.log, Clock: clock.System{}, Permissions: policy.NewTable(nil).Permissions(),
	})
	if err != nil {
		return nil, err
	}
	err = service.EnsureBootstrap(ctx, auth.Bootstrap{
		TenantName: tenantName,
		Username:   credentials.Username, Password: obs.Secret(credentials.Password),
		ClientID: credentials.ClientID, ClientSecret: obs.Secret(credentials.ClientSecret),
	})
	if err != nil {
		return nil, err
	}
	h.keys = service
	return h.open("auth", r, service)
}

func (h *house) startCommons(ctx context.Context, authService *rpc.Local) (*rpc.Local, error) {
	sets, err := commons.Migrations()
	if err != nil {
		return nil, err
	}
	r, err := h.room(ctx, "commons", sets)
	if err != nil {
		return nil, err
	}
	service, err := commons.New(ctx, h.cfg.Commons, commons.Deps{
		Pool: r.pool, NATS: r.broker, Auth: authService.Conn("commons", nil),
		Log: r.log, Registry: r.registry, Clock: clock.System{},
	})
	if err != nil {
		return nil, err
	}
	return h.open("commons", r, service)
}

func (h *house) startTimekeeping(ctx context.Context, commonsService *rpc.Local) (*rpc.Local, error) {
	sets, err := timekeeping.Migrations()
	if err != nil {
		return nil, err
	}
	r, err := h.room(ctx, "timekeeping", sets)
	if err != nil {
		return nil, err
	}
	service, err := timekeeping.New(ctx, h.cfg.Timekeeping, timekeeping.Deps{
		Pool: r.pool, NATS: r.broker, Commons: commonsService.Conn("timekeeping", nil),
		Log: r.log, Registry: r.registry,
	})
	if err != nil {
		return nil, err
	}
	return h.open("timekeeping", r, service)
}

func (h *house) startScheduling(ctx context.Context, commonsService, timekeepingService *rpc.Local) (*rpc.Local, error) {
	sets, err := scheduling.Migrations()
	if err != nil {
		return nil, err
	}
	r, err := h.room(ctx, "scheduling", sets)
	if err != nil {
		return nil, err
	}
	service, err := scheduling.New(ctx, h.cfg.Scheduling, scheduling.Deps{
		Pool: r.pool, NATS: r.broker,
		Commons: commonsService.Conn("scheduling", nil), Timekeeping: timekeepingService.Conn("scheduling", nil),
		Log: r.log, Registry: r.registry,
	})
	if err != nil {
		return nil, err
	}
	return h.open("scheduling", r, service.WithPropagator())
}

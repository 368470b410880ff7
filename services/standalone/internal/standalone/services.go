package standalone

import (
	"context"

	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/domain/authclient"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/commons"
	"github.com/rotaloom/rotaloom/services/platform"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/standalone/internal/natsd"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

// serviceNames are the services of the process, in the order of their dependencies.
var serviceNames = []string{"auth", "commons", "scheduling", "timekeeping", "platform"}

// process contains the shared parts of the services.
type process struct {
	cfg       Config
	app       *boot.App
	databases *privatepg.Databases
	broker    *natsd.Broker
	tokens    authn.Config
	// keys verify tokens, and revocations reports revoked ones. Both belong to the auth service in this
	// process.
	keys        authn.KeySource
	revocations authn.Revocations
}

// startServices starts the database and the broker, and then the services in the order of their dependencies.
func startServices(ctx context.Context, cfg Config, app *boot.App, folder *state.Folder, credentials state.Credentials) (backends.Conns, error) {
	var conns backends.Conns
	h := &process{cfg: cfg, app: app, tokens: authn.Config{Issuer: cfg.Auth.Issuer, Audience: cfg.Auth.Audience}}
	if err := h.startBackends(ctx, folder); err != nil {
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
	schedulingService, err := h.startScheduling(ctx, commonsService)
	if err != nil {
		return conns, err
	}
	timekeepingService, err := h.startTimekeeping(ctx, commonsService, schedulingService)
	if err != nil {
		return conns, err
	}
	platformService, err := h.startPlatform(ctx, authService, commonsService, timekeepingService, schedulingService)
	if err != nil {
		return conns, err
	}
	return backends.Conns{
		Auth: authService, Commons: commonsService, Timekeeping: timekeepingService, Scheduling: schedulingService,
		Platform: platformService, Own: platformService.Conn("gateway", nil), OwnAuth: authService.Conn("gateway", nil),
	}, nil
}

func (h *process) startBackends(ctx context.Context, folder *state.Folder) (err error) {
	h.databases, err = privatepg.Start(ctx, h.cfg.Database, folder.Path("postgresql"), h.app.Log.With("part", "postgresql"), serviceNames...)
	if err != nil {
		return err
	}
	h.app.OnClose("PostgreSQL", h.databases.Stop)
	h.app.Go(boot.StageRelay, "private PostgreSQL", func(ctx context.Context) error {
		return h.databases.Watch(ctx, h.app.Log)
	})
	h.app.Ready.Add("PostgreSQL", h.databases.Check)
	h.broker, err = natsd.Start(h.cfg.NATS, folder.Path("nats"), h.app.Log.With("part", "nats"))
	if err != nil {
		return err
	}
	h.app.OnClose("NATS", func(context.Context) error { h.broker.Stop(); return nil })
	h.app.Go(boot.StageRelay, "private NATS", h.broker.Watch)
	h.app.Ready.Add("NATS", h.broker.Check)
	return nil
}

// backends opens the dependencies of one service.
func (h *process) backends(ctx context.Context, name string, sets []pg.Migrations) (serve.Backends, error) {
	e := serve.Backends{Clock: h.app.Clock, Log: h.app.Log.With("service", name), Registry: obs.ForService(h.app.Registry, name)}
	var err error
	e.Pool, err = serve.Database(ctx, h.app, pg.Config{URL: h.databases.URL(name), AllowInsecure: h.cfg.Database.AllowInsecure}, e.Registry, e.Log, sets...)
	if err != nil {
		return e, err
	}
	if e.NATS, err = h.broker.Connect(name); err != nil {
		return e, err
	}
	h.app.Go(boot.StageRelay, "NATS of "+name, func(ctx context.Context) error { return natsconn.Watch(ctx, e.NATS) })
	h.app.OnClose("connection to NATS", func(ctx context.Context) error { return natsconn.Drain(ctx, e.NATS) })
	e.Guard, err = serve.Guard(h.app, name, e.Pool, e.NATS, e.Registry, e.Log)
	return e, err
}

// openService adds a service to the process, and returns an in-process connection to it.
func (h *process) openService(name string, e serve.Backends, s serve.Service) (*rpc.Local, error) {
	denials, err := serve.StartAudit(h.app, h.cfg.Audit, e.Pool, e.Registry, e.Log)
	if err != nil {
		return nil, err
	}
	chain, err := serve.Chain(rpc.Config{}, h.tokens, h.keys, h.revocations, denials, e.Guard, e.Clock, e.Log, e.Registry)
	if err != nil {
		return nil, err
	}
	local := rpc.NewLocal(chain)
	serve.Register(local, s, e.Pool)
	serve.Add(h.app, name, s, e.Guard)
	h.app.Go(boot.StageServers, name+" calls", func(ctx context.Context) error {
		<-ctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		if err := chain.Drain(drain); err != nil {
			// Requests that were cut off are not an error of the process.
			h.app.Log.Warn("running calls were cut off", "service", name, "error", err)
		}
		return nil
	})
	return local, nil
}

func (h *process) startAuth(ctx context.Context, credentials state.Credentials) (*rpc.Local, error) {
	sets, err := auth.Migrations()
	if err != nil {
		return nil, err
	}
	e, err := h.backends(ctx, "auth", sets)
	if err != nil {
		return nil, err
	}
	service, err := auth.New(ctx, h.cfg.Auth, auth.Deps{
		Backends: e, Permissions: policy.NewTable(nil).Permissions(), OwnRecordActions: policy.NewTable(nil).OwnRecordActions(),
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
	h.keys, h.revocations, h.tokens.Exchange = service, service, service.Exchange
	local, err := h.openService("auth", e, service)
	if err != nil {
		return nil, err
	}
	// The other services learn of revocations and identity providers in the same way as in separate processes.
	h.tokens.Exchange = authclient.Exchange(local.Conn("standalone", nil))
	h.revocations, err = serve.Revocations(h.app, h.cfg.Revocations, local.Conn("standalone", nil), e.NATS, h.app.Log)
	return local, err
}

func (h *process) startCommons(ctx context.Context, authService *rpc.Local) (*rpc.Local, error) {
	sets, err := commons.Migrations()
	if err != nil {
		return nil, err
	}
	e, err := h.backends(ctx, "commons", sets)
	if err != nil {
		return nil, err
	}
	service, err := commons.New(ctx, h.cfg.Commons, commons.Deps{
		Backends: e, Auth: authService.Conn("commons", nil),
	})
	if err != nil {
		return nil, err
	}
	return h.openService("commons", e, service)
}

func (h *process) startTimekeeping(ctx context.Context, commonsService, schedulingService *rpc.Local) (*rpc.Local, error) {
	sets, err := timekeeping.Migrations()
	if err != nil {
		return nil, err
	}
	e, err := h.backends(ctx, "timekeeping", sets)
	if err != nil {
		return nil, err
	}
	service, err := timekeeping.New(ctx, h.cfg.Timekeeping, timekeeping.Deps{
		Backends: e, Commons: commonsService.Conn("timekeeping", nil), Scheduling: schedulingService.Conn("timekeeping", nil),
	})
	if err != nil {
		return nil, err
	}
	return h.openService("timekeeping", e, service)
}

func (h *process) startScheduling(ctx context.Context, commonsService *rpc.Local) (*rpc.Local, error) {
	sets, err := scheduling.Migrations()
	if err != nil {
		return nil, err
	}
	e, err := h.backends(ctx, "scheduling", sets)
	if err != nil {
		return nil, err
	}
	service, err := scheduling.New(ctx, h.cfg.Scheduling, scheduling.Deps{Backends: e, Commons: commonsService.Conn("scheduling", nil)})
	if err != nil {
		return nil, err
	}
	return h.openService("scheduling", e, service.WithPropagator())
}

func (h *process) startPlatform(ctx context.Context, authService, commonsService, timekeepingService, schedulingService *rpc.Local) (*rpc.Local, error) {
	sets, err := platform.Migrations()
	if err != nil {
		return nil, err
	}
	e, err := h.backends(ctx, "platform", sets)
	if err != nil {
		return nil, err
	}
	cfg := h.cfg.Platform
	cfg.BodyBytes = h.cfg.Edge.BodyLimit
	service, err := platform.New(ctx, cfg, platform.Deps{
		Backends: e, Auth: authService.Conn("platform", nil), Commons: commonsService.Conn("platform", nil),
		Timekeeping: timekeepingService.Conn("platform", nil), Scheduling: schedulingService.Conn("platform", nil),
	})
	if err != nil {
		return nil, err
	}
	return h.openService("platform", e, service)
}

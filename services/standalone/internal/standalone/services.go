package standalone

import (
	"context"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/domain/authclient"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
	"github.com/rotaloom/rotaloom/services/auth"
	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
	"github.com/rotaloom/rotaloom/services/standalone/internal/natsd"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
)

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
	// running contains the services that have started.
	running map[string]*rpc.Local
}

// startServices starts the database and the broker, and then the services in the order of their dependencies.
func startServices(ctx context.Context, cfg Config, app *boot.App, folder *state.Folder, credentials state.Credentials) (backends.Conns, error) {
	h := &process{
		cfg: cfg, app: app, tokens: authn.Config{Issuer: cfg.Auth.Issuer, Audience: cfg.Auth.Audience}, running: map[string]*rpc.Local{},
	}
	if err := h.startBackends(ctx, folder); err != nil {
		return backends.Conns{}, err
	}
	for _, s := range inventory.Services() {
		if err := h.startService(ctx, s, credentials); err != nil {
			return backends.Conns{}, err
		}
	}
	return inventory.Conns(h.running), nil
}

// startService starts a service after the services that it calls.
func (h *process) startService(ctx context.Context, s inventory.Service, credentials state.Credentials) error {
	e, err := h.backends(ctx, s)
	if err != nil {
		return err
	}
	service, err := s.New(ctx, h.cfg.Config, e, func(called string) grpc.ClientConnInterface {
		return h.running[called].Conn(s.Name, nil)
	})
	if err != nil {
		return err
	}
	issuer, issues := service.(*auth.Service)
	if issues {
		if err := h.trust(ctx, issuer, credentials); err != nil {
			return err
		}
		e.Clocks = issuer.Clocks()
	}
	local, err := h.openService(s.Name, e, service)
	if err != nil {
		return err
	}
	h.running[s.Name] = local
	if issues {
		// The other services learn of revocations and identity providers in the same way as in separate processes.
		h.tokens.Exchange = authclient.Exchange(local.Conn("standalone", nil))
		h.revocations, err = serve.Revocations(h.app, h.cfg.Revocations, local.Conn("standalone", nil), e.NATS, h.app.Log)
	}
	return err
}

// trust prepares the accounts and access profiles of the auth service, and verifies tokens with its keys.
func (h *process) trust(ctx context.Context, issuer *auth.Service, credentials state.Credentials) error {
	h.keys, h.revocations, h.tokens.Exchange = issuer, issuer, issuer.Exchange
	if err := issuer.UpdateAccessProfiles(ctx); err != nil {
		return err
	}
	return issuer.EnsureBootstrap(ctx, auth.Bootstrap{
		TenantName: tenantName,
		Username:   credentials.Username, Password: obs.Secret(credentials.Password),
		ClientID: credentials.ClientID, ClientSecret: obs.Secret(credentials.ClientSecret),
	})
}

func (h *process) startBackends(ctx context.Context, folder *state.Folder) (err error) {
	database := h.cfg.Database
	database.StartupWait = pg.UntilReachable
	h.databases, err = privatepg.Start(ctx, database, folder.Path("postgresql"), h.app.Log.With("part", "postgresql"), inventory.Names()...)
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
	h.app.Outages.Recognize("NATS", natsconn.Unavailable)
	h.app.OnClose("NATS", func(context.Context) error { h.broker.Stop(); return nil })
	h.app.Go(boot.StageRelay, "private NATS", h.broker.Watch)
	h.app.Ready.Add("NATS", h.broker.Check)
	return nil
}

// backends opens the dependencies of one service.
func (h *process) backends(ctx context.Context, s inventory.Service) (serve.Backends, error) {
	name := s.Name
	e := serve.Backends{Clock: h.app.Clock, Log: h.app.Log.With("service", name), Registry: obs.ForService(h.app.Registry, name)}
	if auth := h.running["auth"]; auth != nil {
		e.Clocks = tenantclock.New(authclient.TenantClock(auth.Conn(name, nil)))
	}
	sets, err := s.Migrations()
	if err != nil {
		return e, err
	}
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
	chain, err := serve.Chain(rpc.Config{}, h.tokens, h.keys, h.revocations, denials, e.Guard, e.Clock, e.Clocks, e.Log, e.Registry)
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

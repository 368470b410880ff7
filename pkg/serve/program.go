package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/denial"
	"github.com/rotaloom/rotaloom/pkg/domain/authclient"
	"github.com/rotaloom/rotaloom/pkg/domain/targets"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/restore"
	"github.com/rotaloom/rotaloom/pkg/revocation"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
)

// Settings are the settings of every service's program.
type Settings struct {
	boot.Common
	certs.TLSFiles
	rpc.Config

	Listen   string          `default:":8443" help:"Address of the gRPC listener."`
	Database pg.Config       `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
	NATS     natsconn.Config `embed:"" prefix:"nats-" envprefix:"ROTALOOM_NATS_"`

	Audit audit.Config `embed:""`
}

// Tokens are the settings of the accepted access tokens.
type Tokens struct {
	authn.TokenSettings

	targets.Auth

	Revocations revocation.Config `embed:""`
}

// Program is a service's own program while it starts.
type Program struct {
	App      *boot.App
	Name     string
	Log      *slog.Logger
	Registry prometheus.Registerer

	settings     *Settings
	certificates *certs.Certificates
	// pool and denials belong to the database, once it is open.
	pool    *pg.Pool
	denials *denial.Aggregator
	guard   *restore.Guard
	clocks  *tenantclock.Clocks
	// auth asks for the clocks of sandboxes. Serve sets it, before any work begins.
	auth tenantclock.Ask
}

// NewProgram returns the program of the service name.
func NewProgram(app *boot.App, settings *Settings, name string) (*Program, error) {
	certificates, err := certs.Load(settings.TLSFiles, app.Log, app.Clock)
	if err != nil {
		return nil, err
	}
	p := &Program{
		App: app, Name: name, Log: app.Log, Registry: obs.ForService(app.Registry, name),
		settings: settings, certificates: certificates,
	}
	p.clocks = tenantclock.New(func(ctx context.Context) (tenantclock.State, error) { return p.auth(ctx) })
	return p, nil
}

// Database migrates and opens the service's database.
func (p *Program) Database(ctx context.Context, sets ...pg.Migrations) (*pg.Pool, error) {
	pool, err := Database(ctx, p.App, p.settings.Database, p.Registry, p.Log, sets...)
	if err != nil {
		return nil, err
	}
	p.pool = pool
	p.denials, err = StartAudit(p.App, p.settings.Audit, pool, p.Registry, p.Log)
	return pool, err
}

// Backends opens the service's database, after migrating it, and connects to the broker.
func (p *Program) Backends(ctx context.Context, migrations func() ([]pg.Migrations, error)) (Backends, error) {
	e := Backends{Clock: p.App.Clock, Clocks: p.clocks, Log: p.Log, Registry: p.Registry}
	sets, err := migrations()
	if err != nil {
		return e, err
	}
	if err := natsconn.Probe(p.settings.NATS); err != nil {
		return e, fmt.Errorf("broker: %w", err)
	}
	if e.Pool, err = p.Database(ctx, sets...); err != nil {
		return e, err
	}
	if e.NATS, err = Broker(p.App, p.settings.NATS, p.Name, p.Log); err != nil {
		return e, err
	}
	p.guard, err = Guard(p.App, p.Name, p.pool, e.NATS, p.Registry, p.Log)
	e.Guard = p.guard
	return e, err
}

// Dial connects to another service, which identifies this one by its certificate.
func (p *Program) Dial(target string) (grpc.ClientConnInterface, error) {
	callee := client.NewPeer(target, p.App.Clock, p.Log)
	conn, err := client.Dial(client.Config{Target: target, TLS: p.certificates.ClientConfig, Peer: callee})
	if err != nil {
		return nil, err
	}
	p.App.Ready.Add("calls of "+target, callee.Check)
	p.App.OnClose("connection to "+target, func(context.Context) error { return conn.Close() })
	return conn, nil
}

// Serve starts to listen, after the database is open, and adds the service to the program. Tokens
// are verified with the keys of the auth service, which also lists the revoked ones.
func (p *Program) Serve(s Service, t Tokens, broker *nats.Conn) error {
	conn, err := p.Dial(t.AuthTarget)
	if err != nil {
		return err
	}
	revocations, err := Revocations(p.App, t.Revocations, conn, broker, p.Log)
	if err != nil {
		return err
	}
	p.auth = authclient.TenantClock(conn)
	keys := authn.NewKeySet(authclient.Keys(conn), p.App.Clock, t.KeySetLife)
	tokens := authn.Config{
		Issuer: t.Issuer, Audience: t.Audience,
		Exchange: authclient.Exchange(conn),
	}
	return p.ServeWith(s, tokens, keys, revocations, p.clocks)
}

// ServeWith is Serve with given keys, revocations and clocks of tenants, for the auth service itself.
func (p *Program) ServeWith(s Service, tokens authn.Config, keys authn.KeySource, revocations authn.Revocations, clocks *tenantclock.Clocks) error {
	chain, err := Chain(p.settings.Config, tokens, keys, revocations, p.denials, p.guard, p.App.Clock, clocks, p.Log, p.Registry)
	if err != nil {
		return err
	}
	server, err := rpc.NewServer(chain, p.certificates.ServerConfig(), false)
	if err != nil {
		return err
	}
	Register(server, s, p.pool)
	listener, err := net.Listen("tcp", p.settings.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	p.App.Go(boot.StageServers, "server", func(ctx context.Context) error { return server.Run(ctx, listener, p.App.RequestTime()) })
	Add(p.App, p.Name, s, p.guard)
	return nil
}

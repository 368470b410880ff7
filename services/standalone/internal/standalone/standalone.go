// Package standalone runs the whole product in one process. It differs from the services' own programs only in
// the connections: calls stay inside the process, but pass the same interceptors and are encoded as over the
// network.
package standalone

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/rotaloom/rotaloom/gateway"
	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/revocation"
	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/state"
)

const (
	tenantName = "default"
	// drainTimeout is the time for running calls to end when the process stops.
	drainTimeout = 3 * time.Second
)

// Config configures the process. All fields except Listen and StateDir may be zero.
type Config struct {
	Listen   string `default:"127.0.0.1:8443" help:"Address of the HTTPS listener; port 0 selects a free port."`
	StateDir string `default:".state" type:"path" help:"Folder for all persistent data."`
	Demo     bool   `help:"Create a demonstration through the API at the first start."`

	Database privatepg.Config `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
	NATS     natsconn.Config  `embed:"" prefix:"nats-" envprefix:"ROTALOOM_NATS_"`

	Edge        gateway.Config    `embed:""`
	Revocations revocation.Config `embed:"" envprefix:"ROTALOOM_"`
	Audit       audit.Config      `embed:"" envprefix:"ROTALOOM_"`

	inventory.Config `embed:""`
}

// Start builds the process. It returns an error for problems of the environment, such as a port in use, a
// missing PostgreSQL, or a state folder of another version.
func Start(ctx context.Context, cfg Config, app *boot.App) error {
	folder, err := state.Open(cfg.StateDir)
	if err != nil {
		return err
	}
	app.OnClose("state folder", func(context.Context) error { return folder.Close() })
	listener, err := boot.Listen("--listen", cfg.Listen)
	if err != nil {
		return err
	}
	app.OnClose("listener", func(context.Context) error { return closeListener(listener) })
	credentials, err := folder.Credentials()
	if err != nil {
		return err
	}
	if cfg.Auth.KeyEncryptionFile == "" && cfg.Auth.KeyEncryptionKey == "" {
		if cfg.Auth.KeyEncryptionFile, err = folder.KeyEncryption(); err != nil {
			return err
		}
	}
	cfg.Platform.BodyBytes = cfg.Edge.BodyLimit
	conns, err := startServices(ctx, cfg, app, folder, credentials)
	if err != nil {
		return err
	}
	return serveEdge(cfg, app, conns, listener, folder, credentials)
}

// closeListener closes a listener that the server may have closed already.
func closeListener(l net.Listener) error {
	if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// serveEdge adds the edge to the process, and announces the server.
func serveEdge(cfg Config, app *boot.App, conns backends.Conns, listener net.Listener, folder *state.Folder, credentials state.Credentials) error {
	ca, err := certs.OpenLocalCA(folder.Path("tls"), app.Clock.Now())
	if err != nil {
		return err
	}
	files, err := ca.Issue("localhost")
	if err != nil {
		return err
	}
	certificates, err := certs.Load(files, app.Log, app.Clock)
	if err != nil {
		return err
	}
	cfg.Edge.Tokens = cfg.Auth.TokenSettings
	cfg.Edge.Clock, cfg.Edge.Metrics = app.Clock, obs.ForService(app.Registry, "gateway")
	edge, err := gateway.New(cfg.Edge, conns, app.Log)
	if err != nil {
		return err
	}
	server := gateway.NewServer(edge, certificates.HTTPSConfig(), app.RequestTime())
	server.LeaveWhen(app.Ready.Stopping)
	app.Go(boot.StageEdge, "edge", func(ctx context.Context) error { return server.Run(ctx, listener, nil) })
	ready := state.Ready{
		BaseURL: "https://" + clientAddress(listener), CAFile: files.CA, Tenant: tenantName, Credentials: credentials,
	}
	app.Go(boot.StageEdge, "announcement", func(ctx context.Context) error {
		return announce(ctx, cfg, app, folder, ready)
	})
	return nil
}

// clientAddress returns the address of the listener for clients on this machine.
func clientAddress(l net.Listener) string {
	tcp, ok := l.Addr().(*net.TCPAddr)
	if ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return l.Addr().String()
}

// announce creates the demonstration, if configured, and then announces that the server responds. It returns
// when ctx ends, as each part of the process must.
func announce(ctx context.Context, cfg Config, app *boot.App, folder *state.Folder, ready state.Ready) error {
	if cfg.Demo && !folder.Seeded() {
		fmt.Fprintln(app.Out, "Creating the demonstration. This happens once and takes some seconds:")
		if err := seedOnce(ctx, app.Out, app.Clock, folder, ready); err != nil {
			if ctx.Err() != nil {
				return nil // The next start completes it.
			}
			return err
		}
		app.Log.Info("demonstration created")
	}
	if err := folder.WriteReady(ready); err != nil {
		return err
	}
	app.Log.Info("serving", "url", ready.BaseURL, "ready_file", folder.Path("ready.json"), "admin", app.AdminURL)
	fmt.Fprintln(app.Out, servingLine(ready.BaseURL, folder.Path("ready.json"), app.AdminURL))
	<-ctx.Done()
	return folder.RemoveReady()
}

// servingLine returns the message that the server is up, which is printed regardless of the log level.
func servingLine(url, readyFile, admin string) string {
	if admin != "" {
		admin = fmt.Sprintf(" Probes, metrics: %s/readyz, /metrics.", admin)
	}
	return fmt.Sprintf("Rotaloom is serving %s. Credentials, CA: %s.%s Stop: Ctrl-C.", url, readyFile, admin)
}

// Command gateway is the REST edge as a program of its own: it serves the HTTP
// API over TLS and calls the services over mutual TLS.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/gateway"
	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/boot/certs"
	"github.com/rotaloom/rotaloom/pkg/domain/targets"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
)

// settings are those of the program.
type settings struct {
	boot.Common
	gateway.Config

	Listen      string `default:":8443" help:"Address of the HTTPS listener."`
	ListenPlain string `help:"Address of a listener for trusted proxies that end TLS; none when empty."`

	HTTPS certs.TLSFiles `embed:"" prefix:"https-"`
	// TLS is what services see of the edge, as between any two of them.
	TLS certs.TLSFiles `embed:""`

	authn.TokenSettings

	targets.Auth
	targets.Commons
	targets.Timekeeping
	targets.Scheduling
	targets.Platform

	Serve   struct{} `cmd:"" default:"1" help:"Serve. This is what happens without a command."`
	Migrate migrate  `cmd:"" help:"Do nothing, because the edge has no database: every program has this command."`

	boot.Commands
}

// migrate is the command of that name.
type migrate struct{}

// Do says that there is nothing to do.
func (migrate) Do(_ context.Context, _ *slog.Logger, out io.Writer) error {
	_, err := fmt.Fprintln(out, "the edge has no database")
	return err
}

func main() {
	s := &settings{}
	boot.Main("gateway", "The REST edge of Rotaloom.", s, s.start)
}

func (s *settings) start(_ context.Context, app *boot.App) error {
	https, err := certs.Load(s.HTTPS, app.Log, app.Clock)
	if err != nil {
		return fmt.Errorf("HTTPS: %w", err)
	}
	conns, err := s.connect(app)
	if err != nil {
		return err
	}
	s.Config.Tokens = s.TokenSettings
	s.Config.Clock, s.Config.Metrics = app.Clock, obs.ForService(app.Registry, "gateway")
	edge, err := gateway.New(s.Config, conns, app.Log)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.Listen)
	if err != nil {
		return fmt.Errorf("HTTPS: %w", err)
	}
	var plain net.Listener
	if s.ListenPlain != "" {
		if plain, err = net.Listen("tcp", s.ListenPlain); err != nil {
			return fmt.Errorf("plain HTTP: %w", err)
		}
	}
	server := gateway.NewServer(edge, https.HTTPSConfig())
	server.LeaveWhen(app.Ready.Stopping)
	app.Go(boot.StageEdge, "edge", func(ctx context.Context) error { return server.Run(ctx, listener, plain) })
	return nil
}

// connect makes the connections to the services. The edge may start before what is
// behind it, and is ready once it reaches that.
func (s *settings) connect(app *boot.App) (backends.Conns, error) {
	certificates, err := certs.Load(s.TLS, app.Log, app.Clock)
	if err != nil {
		return backends.Conns{}, fmt.Errorf("calls of services: %w", err)
	}
	var conns backends.Conns
	for _, d := range []struct {
		target string
		conn   *grpc.ClientConnInterface
	}{
		{s.AuthTarget, &conns.Auth},
		{s.CommonsTarget, &conns.Commons},
		{s.TimekeepingTarget, &conns.Timekeeping},
		{s.SchedulingTarget, &conns.Scheduling},
		{s.PlatformTarget, &conns.Platform},
	} {
		callee := client.NewPeer(d.target, app.Clock, app.Log)
		conn, err := client.Dial(client.Config{Target: d.target, TLS: certificates.ClientConfig, Peer: callee})
		if err != nil {
			return backends.Conns{}, err
		}
		app.Ready.Add("calls of "+d.target, callee.Check)
		app.Ready.Add("connection to "+d.target, client.Open(conn, app.Clock).Check)
		app.OnClose("connection to "+d.target, func(context.Context) error { return conn.Close() })
		*d.conn = conn
	}
	conns.Own, conns.OwnAuth = conns.Platform, conns.Auth
	return conns, nil
}

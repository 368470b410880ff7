// Command gateway runs the REST edge as a separate program. It serves the HTTP API over TLS and calls the
// services over mutual TLS.
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

// settings are the settings of the program.
type settings struct {
	boot.Common
	gateway.Config

	Listen      string `default:":8443" help:"Address of the HTTPS listener."`
	ListenPlain string `help:"Address of a plain HTTP listener for trusted proxies that terminate TLS; no listener when empty."`

	HTTPS certs.TLSFiles `embed:"" prefix:"https-"`
	// TLS is the client certificate of the edge for calls of services.
	TLS certs.TLSFiles `embed:""`

	authn.TokenSettings

	targets.Auth
	targets.Commons
	targets.Timekeeping
	targets.Scheduling
	targets.Recruiting
	targets.Platform

	Serve   struct{} `cmd:"" default:"1" help:"Serve (default)."`
	Migrate migrate  `cmd:"" help:"Do nothing: the edge has no database. The command exists in every program."`

	boot.Commands
}

// migrate is the command migrate.
type migrate struct {
	boot.Output
}

// Do reports that the edge has no database.
func (m *migrate) Do(_ context.Context, _ *slog.Logger, out io.Writer) error {
	return m.PrintLine(out, map[string]any{"migrated": false}, "the edge has no database")
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
	listener, err := boot.Listen("--listen", s.Listen)
	if err != nil {
		return err
	}
	var plain net.Listener
	if s.ListenPlain != "" {
		if plain, err = boot.Listen("--listen-plain", s.ListenPlain); err != nil {
			return err
		}
	}
	server := gateway.NewServer(edge, https.HTTPSConfig(), app.RequestTime())
	server.LeaveWhen(app.Ready.Stopping)
	app.Go(boot.StageEdge, "edge", func(ctx context.Context) error { return server.Run(ctx, listener, plain) })
	return nil
}

// connect opens the connections to the services. The edge may start before the services; it is ready once it
// has reached all of them.
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
		{s.RecruitingTarget, &conns.Recruiting},
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

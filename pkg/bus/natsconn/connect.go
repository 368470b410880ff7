// Package natsconn connects to NATS: safely, to a server that is new enough, and
// with a log of how long it was away.
package natsconn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rotaloom/rotaloom/pkg/obs"
)

// Config says how to reach NATS. Every field but the URL works at its zero
// value.
type Config struct {
	URL         obs.Secret `name:"url" env:"URL" help:"NATS servers, separated by commas: tls://host:4222."`
	Credentials string     `name:"credentials" env:"CREDENTIALS" type:"path" help:"File with NATS user credentials."`
	CA          string     `name:"ca" env:"CA" type:"path" help:"File with the certificates that the server's is verified against."`
	Cert        string     `name:"cert" env:"CERT" type:"path" help:"File with the client certificate."`
	Key         string     `name:"key" env:"KEY" type:"path" help:"File with the key of the client certificate."`
	// AllowInsecure lets servers on other machines be used without TLS or a user.
	AllowInsecure bool `name:"allow-insecure" env:"ALLOW_INSECURE" help:"Use NATS on another machine without TLS or a user."`
}

// Connect returns a connection that is made in the background and made again
// whenever it is lost, for ever: a service works without NATS, and its events
// wait in the outbox. What cannot be right at any time (an unreadable
// certificate, a URL that is none) is an error, and so is a server that is there and
// older than [MinServerVersion]. [Watch] finds one that comes later.
//
// The caller ends the connection by [Drain]. More options, such as an in-process server,
// may be added.
func Connect(cfg Config, name string, log *slog.Logger, more ...nats.Option) (*nats.Conn, error) {
	return NewReporter(log).Connect(cfg, name, log, more...)
}

// Connect is [Connect] for one of several connections of a process.
func (r *Reporter) Connect(cfg Config, name string, log *slog.Logger, more ...nats.Option) (*nats.Conn, error) {
	if err := cfg.checkSecure(); err != nil {
		return nil, err
	}
	opts := []nats.Option{
		nats.Name(name),
		// Nobody else's permissions cover what a service gets.
		nats.CustomInboxPrefix(InboxPrefix(name)),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.ReconnectWait(500 * time.Millisecond),
		nats.ReconnectJitter(250*time.Millisecond, 500*time.Millisecond),
		nats.PingInterval(20 * time.Second),
		// Nothing is kept for later by the client: the outbox does that, durably.
		nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			if connectionBroke(err) {
				return // The Reporter says so, unless we are about to close it.
			}
			subject := ""
			if sub != nil {
				subject = sub.Subject
			}
			log.Warn("NATS reports an error", "subject", subject, "error", err)
		}),
	}
	opts = append(opts, cfg.security()...)
	opts = append(opts, r.options()...)
	conn, err := nats.Connect(cfg.URL.Reveal(), append(opts, more...)...)
	if err != nil {
		return nil, fmt.Errorf("bus: connect: %w", err)
	}
	if err := checkServer(conn); err != nil {
		conn.Close()
		return nil, err
	}
	if !conn.IsConnected() {
		r.disconnected(conn, cmp.Or(conn.LastError(), nats.ErrNoServers))
	}
	return conn, nil
}

// Drain ends a connection when what it has begun is done, and waits for that, so that a
// server of the same process may be stopped next. When ctx ends first the connection is
// closed, and that is an error.
func Drain(ctx context.Context, conn *nats.Conn) error {
	closed := conn.StatusChanged(nats.CLOSED)
	defer conn.RemoveStatusListener(closed)
	switch err := conn.Drain(); {
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrConnectionReconnecting):
		return nil // Closed before, or because nobody is there to whom it could finish anything.
	case err != nil:
		return fmt.Errorf("bus: drain: %w", err)
	}
	select {
	case <-closed:
		return nil
	case <-ctx.Done():
		conn.Close()
		return fmt.Errorf("bus: drain: %w", ctx.Err())
	}
}

// connectionBroke reports whether a write failed because there is nobody at the other end
// of the socket, or of the pipe of a server in this process.
func connectionBroke(err error) bool {
	var socket *net.OpError
	return errors.Is(err, io.ErrClosedPipe) || errors.As(err, &socket)
}

// InboxPrefix is the prefix of the subjects on which the connection of a service gets
// its responses.
func InboxPrefix(name string) string { return "_INBOX." + name }

func (c Config) security() []nats.Option {
	var opts []nats.Option
	if c.Credentials != "" {
		opts = append(opts, nats.UserCredentials(c.Credentials))
	}
	if c.CA != "" {
		opts = append(opts, nats.RootCAs(c.CA))
	}
	if c.Cert != "" || c.Key != "" {
		opts = append(opts, nats.ClientCert(c.Cert, c.Key))
	}
	return opts
}

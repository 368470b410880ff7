// Package natsconn connects to NATS: securely, to a server that is new enough, and with a log of
// its outages.
package natsconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/obs"
)

// Config is the address and the credentials of NATS. Only the URL is required.
type Config struct {
	URL         obs.Secret `name:"url" env:"URL" help:"NATS servers, separated by commas: tls://host:4222."`
	Credentials string     `name:"credentials" env:"CREDENTIALS" type:"path" help:"File with NATS user credentials."`
	CA          string     `name:"ca" env:"CA" type:"path" help:"File with the certificates of the authorities that may sign the server's certificate."`
	Cert        string     `name:"cert" env:"CERT" type:"path" help:"File with the client certificate."`
	Key         string     `name:"key" env:"KEY" type:"path" help:"File with the key of the client certificate."`
	// AllowInsecure allows servers on other machines without TLS or a user.
	AllowInsecure bool `name:"allow-insecure" env:"ALLOW_INSECURE" help:"Use NATS on another machine without TLS or a user."`
}

// Connect returns a connection that is established in the background, and re-established without
// limit whenever it is lost: a service works without NATS, and its events wait in the outbox.
// Errors that time cannot fix (an unreadable certificate, an invalid URL) fail at once, and so does
// a running server that is older than [MinServerVersion]. [Watch] detects an old server later.
//
// Close the connection with [Drain]. more may add options, such as an in-process server.
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
		// A separate prefix: no other service's permissions cover it.
		nats.CustomInboxPrefix(InboxPrefix(name)),
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		// Otherwise the client closes a connection that is refused twice, for ever.
		nats.IgnoreAuthErrorAbort(),
		nats.CustomReconnectDelay((&backoff.Backoff{First: firstReconnectWait, Max: maxReconnectWait}).After),
		nats.PingInterval(20 * time.Second),
		// The client buffers nothing: the outbox does that, durably.
		nats.ReconnectBufSize(-1),
		nats.ErrorHandler(func(_ *nats.Conn, sub *nats.Subscription, err error) {
			if connectionBroke(err) {
				return // The Reporter logs it, unless this process is closing the connection.
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
	return conn, nil
}

const (
	firstReconnectWait = 250 * time.Millisecond
	maxReconnectWait   = 2 * time.Second
)

// Unavailable reports whether err means that the server is unreachable. The client also returns it
// while it reconnects.
func Unavailable(err error) bool {
	for _, known := range []error{
		nats.ErrNoServers, nats.ErrDisconnected, nats.ErrConnectionReconnecting, nats.ErrReconnectBufExceeded, nats.ErrStaleConnection,
	} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// Drain closes a connection once its pending work is done, and waits for that, so that a server in
// the same process can be stopped next. If ctx ends first, Drain closes the connection and returns
// an error.
func Drain(ctx context.Context, conn *nats.Conn) error {
	closed := conn.StatusChanged(nats.CLOSED)
	defer conn.RemoveStatusListener(closed)
	switch err := conn.Drain(); {
	case errors.Is(err, nats.ErrConnectionClosed), errors.Is(err, nats.ErrConnectionReconnecting):
		return nil // Already closed, or no server to finish with.
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

// connectionBroke reports whether a write failed because the other end of the socket, or of the
// pipe to a server in this process, is closed.
func connectionBroke(err error) bool {
	var socket *net.OpError
	return errors.Is(err, io.ErrClosedPipe) || errors.As(err, &socket)
}

// InboxPrefix returns the prefix of the subjects on which a service's connection receives
// responses.
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

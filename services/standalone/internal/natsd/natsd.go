// Package natsd provides the NATS server of the standalone program: a server in the process, which stores its
// streams in the state folder, or a configured one.
package natsd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/localnats"
)

// Broker provides connections to the NATS server.
type Broker struct {
	cfg    natsconn.Config
	log    *slog.Logger
	report *natsconn.Reporter
	// local is nil for a configured server.
	local *localnats.Server
	// full is the reason why the server in the process cannot write, or nil.
	full atomic.Pointer[error]
}

// Start starts a server in dir, unless the configuration names one. The server opens no port: only this process
// can connect. A configured server must be reachable and suitable.
func Start(cfg natsconn.Config, dir string, log *slog.Logger) (*Broker, error) {
	if cfg.URL != "" {
		if err := natsconn.Probe(cfg); err != nil {
			return nil, err
		}
		return &Broker{cfg: cfg, log: log, report: natsconn.NewReporter(log)}, nil
	}
	server, err := localnats.Start(localnats.Config{Dir: dir, Log: log})
	if err != nil {
		return nil, fmt.Errorf("start NATS: %w", err)
	}
	return &Broker{cfg: cfg, log: log, report: natsconn.NewReporter(log), local: server}, nil
}

// Connect returns a new connection for a service. The service drains it.
func (b *Broker) Connect(service string) (*nats.Conn, error) {
	if b.local == nil {
		return b.report.Connect(b.cfg, service, b.log)
	}
	return b.report.Connect(b.cfg, service, b.log, b.local.InProcess())
}

// freeSpaceInterval is how often a full disk is checked.
const freeSpaceInterval = time.Second

// Watch restarts the server in the process after it could not write to its disk, as soon as there is space,
// until ctx ends. Streams that failed to write accept nothing before a restart. Meanwhile events wait in the
// outboxes.
func (b *Broker) Watch(ctx context.Context) error {
	if b.local == nil {
		<-ctx.Done()
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-b.local.Failed():
			b.full.Store(&err)
			b.log.ErrorContext(ctx, "NATS cannot write to its disk: events wait until there is space", "error", err)
		}
		for b.local.CheckFreeSpace() != nil {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(freeSpaceInterval):
			}
		}
		if err := b.local.Restart(); err != nil {
			return fmt.Errorf("restart NATS after its disk was full: %w", err)
		}
		b.full.Store(nil)
		b.log.WarnContext(ctx, "NATS can write to its disk again")
	}
}

var errFull = errors.New("the disk of NATS is full or not writable: free space on it")

// Check returns an error if the server in the process cannot write.
func (b *Broker) Check(context.Context) error {
	if b.full.Load() != nil {
		return errFull
	}
	return nil
}

// Stop ends the server in the process, after its connections are drained.
func (b *Broker) Stop() {
	if b.local != nil {
		b.local.Stop()
	}
}

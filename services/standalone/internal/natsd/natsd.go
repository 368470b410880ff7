// Package natsd gives the standalone program its NATS: a server in the process
// that keeps its streams in the state folder, or one that is named.
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

// Broker is where the services' connections lead.
type Broker struct {
	cfg    natsconn.Config
	log    *slog.Logger
	report *natsconn.Reporter
	// local is nil when the server is not ours.
	local *localnats.Server
	// full is why the server in the process cannot write, or nil.
	full atomic.Pointer[error]
}

// Start starts a server in dir, unless the configuration names one. It opens no
// port: only this process can connect. A named one that is there and will not do is an
// error.
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

// Connect returns a connection of its own for a service, which drains it.
func (b *Broker) Connect(service string) (*nats.Conn, error) {
	if b.local == nil {
		return b.report.Connect(b.cfg, service, b.log)
	}
	return b.report.Connect(b.cfg, service, b.log, b.local.InProcess())
}

// freeSpaceInterval is how often a disk that was full is looked at.
const freeSpaceInterval = time.Second

// Watch starts the server in the process again when it could not write to its disk, as
// soon as there is room, until ctx ends: streams that met the end of the room take
// nothing more before that. Events wait in the outboxes meanwhile.
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
			b.log.ErrorContext(ctx, "NATS cannot write to its disk: events wait until there is room", "error", err)
		}
		for b.local.CheckFreeSpace() != nil {
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(freeSpaceInterval):
			}
		}
		if err := b.local.Restart(); err != nil {
			return fmt.Errorf("start NATS again, whose disk was full: %w", err)
		}
		b.full.Store(nil)
		b.log.WarnContext(ctx, "NATS can write to its disk again")
	}
}

var errFull = errors.New("the disk of NATS is full, or cannot be written: make room on it")

// Check says that the server in the process cannot write, or nil.
func (b *Broker) Check(context.Context) error {
	if b.full.Load() != nil {
		return errFull
	}
	return nil
}

// Stop ends the server in the process, after its connections were drained.
func (b *Broker) Stop() {
	if b.local != nil {
		b.local.Stop()
	}
}

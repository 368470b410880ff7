// Package natsd gives the all-in-one program its NATS: a server in the process
// that keeps its streams in the state folder, or one that is named.
package natsd

import (
	"fmt"
	"log/slog"

	"github.com/nats-io/nats.go"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/localnats"
)

// Broker is where the services' connections lead.
type Broker struct {
	cfg    bus.Config
	log    *slog.Logger
	report *bus.Reporter
	// local is nil when the server is not ours.
	local *localnats.Server
}

// Start starts a server in dir, unless the configuration names one. It opens no
// port: only this process can connect. A named one that is there and will not do is an
// error.
func Start(cfg bus.Config, dir string, log *slog.Logger) (*Broker, error) {
	if cfg.URL != "" {
		if err := bus.Probe(cfg); err != nil {
			return nil, err
		}
		return &Broker{cfg: cfg, log: log, report: bus.NewReporter(log)}, nil
	}
	server, err := localnats.Start(localnats.Config{Dir: dir})
	if err != nil {
		return nil, fmt.Errorf("start NATS: %w", err)
	}
	return &Broker{cfg: cfg, log: log, report: bus.NewReporter(log), local: server}, nil
}

// Connect returns a connection of its own for a service, which drains it.
func (b *Broker) Connect(service string) (*nats.Conn, error) {
	if b.local == nil {
		return b.report.Connect(b.cfg, service, b.log)
	}
	return b.report.Connect(b.cfg, service, b.log, b.local.InProcess())
}

// Stop ends the server in the process, after its connections were drained.
func (b *Broker) Stop() {
	if b.local != nil {
		b.local.Stop()
	}
}

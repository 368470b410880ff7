package scheduling

import (
	"context"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/propagator"
)

// Propagator applies changes of rotations to schedules. Several processes can run one. It needs no
// other service.
type Propagator struct {
	*serve.Core
	worker *propagator.Propagator
}

// NewPropagator returns a propagator.
func NewPropagator(cfg Config, backends serve.Backends) (*Propagator, error) {
	sets, err := Migrations()
	if err != nil {
		return nil, err
	}
	core, err := serve.NewCore(backends, cfg.Streams, sets)
	if err != nil {
		return nil, err
	}
	worker, err := propagator.New(propagator.Options{
		Pool: backends.Pool, Bus: core.Events, Log: backends.Log, Registry: backends.Registry,
		Config: cfg.Propagation, Clock: backends.Clock,
	})
	if err != nil {
		return nil, err
	}
	return &Propagator{Core: core, worker: worker}, nil
}

// Register registers nothing: a propagator only consumes events.
func (p *Propagator) Register(grpc.ServiceRegistrar) {}

// Consumers returns the consumers of the propagator.
func (p *Propagator) Consumers() []bus.Consumer { return p.worker.Consumers() }

// Run plans and works until ctx ends.
func (p *Propagator) Run(ctx context.Context) error { return p.worker.Run(ctx) }

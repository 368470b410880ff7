package scheduling

import (
	"context"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/propagator"
)

// Propagator applies changes of rotations to the schedules that they concern.
// Any number of processes may run one. It needs no other service.
type Propagator struct {
	*serve.Core
	worker *propagator.Propagator
}

// NewPropagator makes a propagator.
func NewPropagator(cfg Config, engines serve.Engines) (*Propagator, error) {
	sets, err := Migrations()
	if err != nil {
		return nil, err
	}
	core, err := serve.NewCore(engines, cfg.Streams, sets)
	if err != nil {
		return nil, err
	}
	worker, err := propagator.New(propagator.Options{
		Pool: engines.Pool, Bus: core.Events, Wake: core.Wake, Log: engines.Log, Registry: engines.Registry,
		Config: cfg.Propagation, Clock: engines.Clock,
	})
	if err != nil {
		return nil, err
	}
	return &Propagator{Core: core, worker: worker}, nil
}

// Register adds nothing: a propagator is only woken by events.
func (p *Propagator) Register(grpc.ServiceRegistrar) {}

// Consumers are what the propagator consumes.
func (p *Propagator) Consumers() []bus.Consumer { return p.worker.Consumers() }

// Run plans and works until ctx ends.
func (p *Propagator) Run(ctx context.Context) error { return p.worker.Run(ctx) }

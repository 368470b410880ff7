package scheduling

import (
	"context"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// Propagator applies changes of rotations to the schedules that they concern.
// Any number of processes may run one.
type Propagator struct {
	*base
	worker *propagation.Propagator
}

// NewPropagator makes a propagator without the rest of the service. It needs
// no connections to other services.
func NewPropagator(cfg Config, deps Deps) (*Propagator, error) {
	b, err := newBase(cfg, deps)
	if err != nil {
		return nil, err
	}
	return newPropagator(b, cfg, deps)
}

func newPropagator(b *base, cfg Config, deps Deps) (*Propagator, error) {
	worker, err := propagation.New(propagation.Options{
		Pool: deps.Pool, Bus: b.events, Wake: b.relay.Wake, Log: deps.Log, Registry: deps.Registry,
		Config: cfg.Propagation,
	})
	if err != nil {
		return nil, err
	}
	return &Propagator{base: b, worker: worker}, nil
}

// Register adds nothing: a propagator is only told by events.
func (p *Propagator) Register(grpc.ServiceRegistrar) {}

// Run plans and works until ctx ends.
func (p *Propagator) Run(ctx context.Context) error { return p.worker.Run(ctx) }

package boot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/clock"
)

// Stage is when a part of a program stops. The parts of a stage stop together,
// and the next stage begins when they have.
type Stage int

// The stages in the order in which they stop.
const (
	// StageEdge takes requests from outside.
	StageEdge Stage = iota
	// StageConsumers take messages.
	StageConsumers
	// StageServers take calls from the parts above.
	StageServers
	// StageRelay publishes what the parts above left behind.
	StageRelay

	stages = int(StageRelay) + 1
)

// App holds the running parts of a program. Parts are added before Run.
type App struct {
	// Log is what parts write to.
	Log *slog.Logger
	// Clock gives the present to all parts.
	Clock clock.Clock
	// Registry holds the metrics of the process.
	Registry *prometheus.Registry
	// Ready reports whether the program can do its work.
	Ready *Checks
	// Out is where the program prints what people wait for, and what they can do.
	Out io.Writer
	// AdminURL is where probes and metrics are; empty without an admin listener.
	AdminURL string

	drainDelay  time.Duration
	stopTimeout time.Duration

	runners [stages][]runner
	closers []closer
}

type runner struct {
	name string
	run  func(ctx context.Context) error
}

type closer struct {
	name  string
	close func(ctx context.Context) error
}

// NewApp makes an App without parts. It is not ready before Run.
func NewApp(cfg Common, log *slog.Logger, registry *prometheus.Registry) *App {
	return &App{
		Log: log, Clock: clock.System{}, Registry: registry, Ready: NewChecks(), Out: os.Stdout,
		drainDelay: cfg.DrainDelay, stopTimeout: cfg.StopTimeout,
	}
}

// Go adds a part that runs until its context ends and then comes to its end
// within the stop timeout. One that ends before that stops the program.
func (a *App) Go(stage Stage, name string, run func(ctx context.Context) error) {
	a.runners[stage] = append(a.runners[stage], runner{name, run})
}

// OnClose adds something to close when all parts have stopped, or when the
// program fails to start. What was added last is closed first.
func (a *App) OnClose(name string, close func(ctx context.Context) error) {
	a.closers = append(a.closers, closer{name, close})
}

// Close closes what OnClose added, once.
func (a *App) Close() error {
	var errs []error
	for len(a.closers) > 0 {
		last := len(a.closers) - 1
		c := a.closers[last]
		a.closers = a.closers[:last]
		if err := a.closeOne(c); err != nil {
			errs = append(errs, fmt.Errorf("closing %s: %w", c.name, err))
		}
	}
	return errors.Join(errs...)
}

func (a *App) closeOne(c closer) error {
	ctx, cancel := context.WithTimeout(context.Background(), a.stopTimeout)
	defer cancel()
	return c.close(ctx)
}

// ended is a part that came to its end.
type ended struct {
	name string
	err  error
}

// Run starts the parts and waits until ctx ends or a part does. It then stops
// in order: not ready, the drain delay, the stages one after the other, and
// at last what OnClose added. The error says which part failed first, and
// what went wrong while stopping.
func (a *App) Run(ctx context.Context) error {
	done := make(chan ended, a.parts())
	// From the inside outwards: nothing is called before it runs.
	running := make([]*group, stages)
	for stage := stages - 1; stage >= 0; stage-- {
		running[stage] = startGroup(a.runners[stage], done)
	}
	a.Ready.SetState(StateReady)
	a.Log.Info("ready")

	var cause error
	select {
	case <-ctx.Done():
	case e := <-done:
		cause = fmt.Errorf("%s ended: %w", e.name, errOrEnded(e.err))
		a.Log.Error("a part ended, so the program stops", "part", e.name, "error", e.err)
	}
	a.Ready.SetState(StateStopping)
	a.Log.Info("stopping", "drain_delay", a.drainDelay.String())
	if cause == nil {
		// Load balancers need a moment to see that we are not ready.
		<-time.After(a.drainDelay)
	}
	errs := []error{cause}
	for _, g := range running {
		errs = append(errs, g.stop(a.stopTimeout, a.Log))
	}
	errs = append(errs, a.Close())
	a.Log.Info("stopped")
	return errors.Join(errs...)
}

func (a *App) parts() int {
	n := 0
	for _, runners := range a.runners {
		n += len(runners)
	}
	return n
}

var errEnded = errors.New("nothing asked it to")

func errOrEnded(err error) error {
	if err == nil {
		return errEnded
	}
	return err
}

// group is the running parts of one stage.
type group struct {
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu      sync.Mutex
	running map[string]bool
	errs    []error
}

func startGroup(runners []runner, done chan<- ended) *group {
	ctx, cancel := context.WithCancel(context.Background())
	g := &group{cancel: cancel, running: map[string]bool{}}
	for _, r := range runners {
		g.running[r.name] = true
		g.ended.Go(func() {
			err := r.run(ctx)
			g.end(r.name, err, ctx.Err() != nil)
			done <- ended{r.name, err}
		})
	}
	return g
}

// end keeps the error of a part that ended badly although it was asked to
// end. That it ended because it was asked is none.
func (g *group) end(name string, err error, asked bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, name)
	if asked && err != nil && !errors.Is(err, context.Canceled) {
		g.errs = append(g.errs, fmt.Errorf("stopping %s: %w", name, err))
	}
}

// stop asks the parts to end and waits for them, but not for ever.
func (g *group) stop(timeout time.Duration, log *slog.Logger) error {
	g.cancel()
	all := make(chan struct{})
	go func() {
		g.ended.Wait()
		close(all)
	}()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-all:
	case <-timer.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for name := range g.running {
		log.Error("a part did not stop in time", "part", name)
		g.errs = append(g.errs, fmt.Errorf("stopping %s: not done after %s", name, timeout))
	}
	return errors.Join(g.errs...)
}

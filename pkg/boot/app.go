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
	"github.com/rotaloom/rotaloom/pkg/outage"
)

// Stage determines when a part of a program stops. The parts of a stage stop together, and the next
// stage begins when they have stopped.
type Stage int

// The stages, in their stopping order.
const (
	// StageEdge accepts requests from outside.
	StageEdge Stage = iota
	// StageConsumers handles messages.
	StageConsumers
	// StageServers accepts calls from the parts above.
	StageServers
	// StageRelay publishes the events of the parts above.
	StageRelay

	stages = int(StageRelay) + 1
)

// App holds the running parts of a program. Add parts before Run.
type App struct {
	// Log is the log of all parts.
	Log *slog.Logger
	// Clock is the clock of all parts.
	Clock clock.Clock
	// Registry holds the metrics of the process.
	Registry *prometheus.Registry
	// Outages logs when servers that the program depends on become unreachable.
	Outages *outage.Reporter
	// Ready reports whether the program can do its work.
	Ready *Checks
	// Out is where the program prints messages for its user.
	Out io.Writer
	// AdminURL is the URL of probes and metrics; empty without an admin listener.
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

// NewApp returns an App without parts. It is not ready before Run.
func NewApp(cfg Common, log *slog.Logger, registry *prometheus.Registry) *App {
	outages := outage.NewReporter(log)
	return &App{
		Log: slog.New(outages.Handler(log.Handler())), Outages: outages, Clock: clock.System{}, Registry: registry, Ready: NewChecks(), Out: os.Stdout,
		drainDelay: cfg.DrainDelay, stopTimeout: cfg.StopTimeout,
	}
}

// connectionTime is the end of the stop timeout. Servers close their connections then.
const connectionTime = time.Second

// RequestTime returns the time that a server gives its running requests when it stops. It is the stop
// timeout less one second for closing the connections, or one half of a stop timeout below two seconds.
func (a *App) RequestTime() time.Duration {
	return max(a.stopTimeout-connectionTime, a.stopTimeout/2)
}

// Go adds a part that runs until its context ends, and then has the stop timeout to finish. A part
// that ends earlier stops the program.
func (a *App) Go(stage Stage, name string, run func(ctx context.Context) error) {
	a.runners[stage] = append(a.runners[stage], runner{name, run})
}

// OnClose adds a function to call when all parts have stopped, or when the program fails to start.
// The functions run in reverse order.
func (a *App) OnClose(name string, close func(ctx context.Context) error) {
	a.closers = append(a.closers, closer{name, close})
}

// Close calls the functions of OnClose, once.
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

// endedPart is the result of a part that ended.
type endedPart struct {
	name string
	err  error
}

// Run starts the parts and waits until ctx ends or a part ends. It then stops in order: it clears
// readiness, waits for the drain delay, stops the stages one after the other, and calls the
// functions of OnClose. The error names the part that failed first, and the errors while stopping.
func (a *App) Run(ctx context.Context) error {
	done := make(chan endedPart, a.parts())
	// From the inside outwards: each part runs before it is called.
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
		// Load balancers need a moment to notice that the program is not ready.
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

var errEnded = errors.New("it was not asked to end")

func errOrEnded(err error) error {
	if err == nil {
		return errEnded
	}
	return err
}

// group holds the running parts of one stage.
type group struct {
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu      sync.Mutex
	running map[string]bool
	errs    []error
}

func startGroup(runners []runner, done chan<- endedPart) *group {
	ctx, cancel := context.WithCancel(context.Background())
	g := &group{cancel: cancel, running: map[string]bool{}}
	for _, r := range runners {
		g.running[r.name] = true
		g.ended.Go(func() {
			err := r.run(ctx)
			g.end(r.name, err, ctx.Err() != nil)
			done <- endedPart{r.name, err}
		})
	}
	return g
}

// end records the error of a part that was asked to end. An end on request is not an error.
func (g *group) end(name string, err error, asked bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.running, name)
	if asked && err != nil && !errors.Is(err, context.Canceled) {
		g.errs = append(g.errs, fmt.Errorf("stopping %s: %w", name, err))
	}
}

// stop asks the parts to end and waits up to timeout.
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

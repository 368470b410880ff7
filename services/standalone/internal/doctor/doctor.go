// Package doctor looks at what an installation stands on, and says what to do about what
// is not as it should be. It changes nothing.
package doctor

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
)

// State is what became of a check.
type State string

// The states of a check.
const (
	OK State = "ok"
	// Warning works today, and will not for ever.
	Warning State = "warning"
	Failed  State = "failed"
	// Skipped could not be looked at, for a reason that another check names or that is
	// none of a fault.
	Skipped State = "skipped"
)

// Finding is what one check has found.
type Finding struct {
	Check string `json:"check"`
	State State  `json:"state"`
	Found string `json:"found"`
	// Do says what to do about it; it is empty when there is nothing to do.
	Do string `json:"do,omitempty"`
}

// checkTimeout is how long one check may take.
const checkTimeout = 10 * time.Second

// Service is a service with a database.
type Service struct {
	Name string
	// Migrations are the schemas that this program needs.
	Migrations []pg.Migrations
	// DeadLetters says that the service keeps the events that its consumers gave up.
	DeadLetters bool
	// NewestTimes are statements that return the newest time that the service wrote, or
	// none, when it is later than $1.
	NewestTimes []string
}

// Command is the command of operators.
type Command struct {
	boot.Output
	StateDir     string           `default:".state" type:"path" help:"State folder of the installation."`
	Database     privatepg.Config `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
	NATS         natsconn.Config  `embed:"" prefix:"nats-" envprefix:"ROTALOOM_NATS_"`
	Certificates []string         `type:"path" help:"Files of further certificates whose end is looked at (PEM)."`
	Probes       []string         `help:"Admin listeners of processes whose readiness is asked for: http://10.0.0.7:9090."`
}

// examination is one run of the command.
type examination struct {
	*Command
	services []Service
	clock    clock.Clock
	log      *slog.Logger
	client   *http.Client
	findings []Finding
}

// Do looks at everything, prints what it has found, and what to do. Something that fails
// is a [boot.CheckFailed]; a warning is not.
func (c *Command) Do(ctx context.Context, services []Service, clk clock.Clock, log *slog.Logger, out io.Writer) error {
	e := &examination{Command: c, services: services, clock: clk, log: log, client: &http.Client{Timeout: checkTimeout}, findings: []Finding{}}
	for _, check := range []func(ctx context.Context){
		e.stateFolder, e.disk, e.server, e.certificates, e.databases, e.broker, e.timeZones, e.processes,
	} {
		check(ctx)
	}
	failed := 0
	for _, f := range e.findings {
		if f.State == Failed {
			failed++
		}
	}
	if err := c.Print(out, e.findings, e.table); err != nil {
		return err
	}
	if failed > 0 {
		return &boot.CheckFailed{Found: fmt.Sprintf("%d of %d checks failed", failed, len(e.findings))}
	}
	return nil
}

func (e *examination) table(table io.Writer) {
	fmt.Fprintln(table, "check\tstate\tfound")
	for _, f := range e.findings {
		fmt.Fprintf(table, "%s\t%s\t%s\n", f.Check, f.State, f.Found)
		if f.Do != "" {
			fmt.Fprintf(table, "\t\t-> %s\n", f.Do)
		}
	}
}

// add notes what a check has found, and what to do about it.
func (e *examination) add(check string, state State, do, found string, args ...any) {
	e.findings = append(e.findings, Finding{Check: check, State: state, Found: fmt.Sprintf(found, args...), Do: do})
}

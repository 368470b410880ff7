// Package doctor checks the environment of an installation, and suggests fixes for the problems that it finds.
// It changes nothing.
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

// State is the result of a check.
type State string

// The states of a check.
const (
	OK State = "ok"
	// Warning means that the installation works now, but will not for long.
	Warning State = "warning"
	Failed  State = "failed"
	// Skipped means that the check was not possible, for a reason that another check reports or that is
	// harmless.
	Skipped State = "skipped"
)

// Finding is the result of one check with its details.
type Finding struct {
	Check string `json:"check"`
	State State  `json:"state"`
	Found string `json:"found"`
	// Do is the suggested fix; it is empty if none is needed.
	Do string `json:"do,omitempty"`
}

// checkTimeout bounds one check.
const checkTimeout = 10 * time.Second

// Service is a service with a database.
type Service struct {
	Name string
	// Migrations are the schemas of this program.
	Migrations []pg.Migrations
	// DeadLetters means that the service stores dead-lettered events.
	DeadLetters bool
	// NewestTimes are queries for the newest time that the service has written, if it is later than $1.
	NewestTimes []string
}

// Command is the operator command.
type Command struct {
	boot.Output
	StateDir     string           `default:".state" type:"path" help:"State folder of the installation."`
	Database     privatepg.Config `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
	NATS         natsconn.Config  `embed:"" prefix:"nats-" envprefix:"ROTALOOM_NATS_"`
	Certificates []string         `type:"path" help:"Additional certificate files (PEM) to check for expiry."`
	Probes       []string         `help:"Admin listeners of processes to check for readiness: http://10.0.0.7:9090."`
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

// Do runs all checks, and prints the findings and the suggested fixes. It returns a [boot.CheckFailed] if a
// check failed, but not for warnings.
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

// add records a finding.
func (e *examination) add(check string, state State, do, found string, args ...any) {
	e.findings = append(e.findings, Finding{Check: check, State: state, Found: fmt.Sprintf(found, args...), Do: do})
}

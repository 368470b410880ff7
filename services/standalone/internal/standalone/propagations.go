package standalone

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/standalone/internal/privatepg"
	"github.com/rotaloom/rotaloom/services/standalone/internal/remote"
)

// Propagations are the commands over the application of changes to schedules.
type Propagations struct {
	List   listPropagations  `cmd:"" help:"List propagations, the newest first."`
	Show   showPropagation   `cmd:"" help:"Show one propagation."`
	Follow followPropagation `cmd:"" help:"Show how far a propagation has come until it has finished or failed."`
	Replay replayPropagation `cmd:"" help:"Set a failed propagation going again, while the API is served."`
}

const (
	propagationsPath = "/v1/scheduling/propagations"
	// followEvery is how often a propagation is looked at that is followed.
	followEvery = 500 * time.Millisecond
	// listedFailures is the most failures that a line of the list shows.
	listedFailures = 3
)

// propagation is what the API shows of one.
type propagation struct {
	ID             int64  `json:"id"`
	State          string `json:"state"`
	Cause          string `json:"cause"`
	EmployeesTotal *int64 `json:"employeesTotal"`
	EmployeesDone  int64  `json:"employeesDone"`
	SpansWritten   int64  `json:"spansWritten"`
	AcceptedAt     string `json:"acceptedAt"`
	FinishedAt     string `json:"finishedAt"`
	Error          string `json:"error"`
	Skipped        []struct {
		Reason    string `json:"reason"`
		Employees int64  `json:"employees"`
	} `json:"skipped"`
	EmployeesFailed int64                `json:"employeesFailed"`
	Failures        []propagationFailure `json:"failures"`
}

// propagationFailure says why the schedule of an employee could not be brought up to date.
type propagationFailure struct {
	Employee struct {
		ID        int64  `json:"id"`
		Qualifier string `json:"qualifier"`
	} `json:"employee"`
	ErrorCode string `json:"errorCode"`
	Message   string `json:"message"`
}

// String names the employee and the error.
func (f *propagationFailure) String() string {
	employee := fmt.Sprint(f.Employee.ID)
	if f.Employee.Qualifier != "" {
		employee = fmt.Sprintf("%d (%s)", f.Employee.ID, f.Employee.Qualifier)
	}
	return fmt.Sprintf("employee %s: %s %s", employee, f.ErrorCode, f.Message)
}

// failureLines returns a line for each employee that is named, and one for the others.
func (p *propagation) failureLines() []string {
	var lines []string
	for i := range p.Failures {
		lines = append(lines, p.Failures[i].String())
	}
	if others := p.EmployeesFailed - int64(len(p.Failures)); others > 0 {
		lines = append(lines, fmt.Sprintf("%d other employees", others))
	}
	return lines
}

// progress is how many employees are up to date with the change.
func (p *propagation) progress() string {
	if p.EmployeesTotal == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", p.EmployeesDone, *p.EmployeesTotal)
}

type listPropagations struct {
	boot.Output
	remote.Server
	State   []string `help:"Only those in these states: ACCEPTED, RUNNING, FINISHED, FAILED."`
	Request string   `help:"Only those of the request with this X-Request-Id."`
	Count   int      `default:"20" help:"How many at most, up to 1000."`
}

// Do prints a line for each.
func (l *listPropagations) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	client, err := l.Connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	where := map[string]any{}
	if len(l.State) > 0 {
		where["states"] = l.State
	}
	if l.Request != "" {
		where["requestIds"] = []string{l.Request}
	}
	var page struct {
		Propagations json.RawMessage `json:"propagations"`
	}
	err = client.Call(ctx, http.MethodPost, propagationsPath+"/multi_read", map[string]any{"where": where, "count": l.Count}, &page)
	if err != nil {
		return err
	}
	var found []propagation
	if err := json.Unmarshal(page.Propagations, &found); err != nil {
		return fmt.Errorf("propagations: %w", err)
	}
	return l.Print(out, page.Propagations, func(table io.Writer) {
		fmt.Fprintln(table, "id\tstate\tcause\temployees\taccepted\tfinished\terror")
		for _, p := range found {
			reason := p.Error
			if lines := p.failureLines(); len(lines) > 0 {
				reason = strings.Join(lines[:min(len(lines), listedFailures)], "; ")
			}
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", p.ID, p.State, p.Cause, p.progress(), p.AcceptedAt, p.FinishedAt, reason)
		}
	})
}

// onePropagation says which is meant.
type onePropagation struct {
	remote.Server
	ID int64 `arg:"" help:"The propagation, as list shows it and as the Content-Location of a response ends."`
}

func (o *onePropagation) get(ctx context.Context, client *remote.Client) (raw json.RawMessage, p propagation, err error) {
	if err = client.Call(ctx, http.MethodGet, fmt.Sprintf("%s/%d", propagationsPath, o.ID), nil, &raw); err == nil {
		err = json.Unmarshal(raw, &p)
	}
	return raw, p, err
}

type showPropagation struct {
	boot.Output
	onePropagation
}

// Do prints what is known of it.
func (s *showPropagation) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	client, err := s.Connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	raw, p, err := s.get(ctx, client)
	if err != nil {
		return err
	}
	return s.Print(out, raw, func(table io.Writer) {
		for _, line := range [][2]string{
			{"id", fmt.Sprint(p.ID)},
			{"state", p.State},
			{"cause", p.Cause},
			{"employees", p.progress()},
			{"spans written", fmt.Sprint(p.SpansWritten)},
			{"accepted", p.AcceptedAt},
			{"finished", p.FinishedAt},
			{"error", p.Error},
		} {
			if line[1] != "" {
				fmt.Fprintf(table, "%s\t%s\n", line[0], line[1])
			}
		}
		for _, of := range p.Skipped {
			fmt.Fprintf(table, "skipped\t%s of %d employees\n", of.Reason, of.Employees)
		}
		for _, line := range p.failureLines() {
			fmt.Fprintf(table, "failed\t%s\n", line)
		}
	})
}

type followPropagation struct {
	boot.Output
	onePropagation
}

// Do prints a line whenever it has come further. That it has failed is a
// [boot.CheckFailed].
func (f *followPropagation) Do(ctx context.Context, _ *slog.Logger, out io.Writer) error {
	client, err := f.Connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	ticker := time.NewTicker(followEvery)
	defer ticker.Stop()
	for before := ""; ; {
		raw, p, err := f.get(ctx, client)
		if err != nil {
			return err
		}
		line := strings.Join(append([]string{fmt.Sprintf("%s %s employees", p.State, p.progress())}, p.failureLines()...), "\n  failed: ")
		if f.JSON() {
			line = string(raw)
		}
		if line != before {
			if _, err := fmt.Fprintln(out, line); err != nil {
				return err
			}
			before = line
		}
		switch p.State {
		case "FINISHED":
			return nil
		case "FAILED":
			return &boot.CheckFailed{Found: fmt.Sprintf("propagation %d has failed: %s", p.ID, p.Error)}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// replayPropagation works on the database of a process that serves.
type replayPropagation struct {
	Command  scheduling.ReplayCommand `embed:""`
	StateDir string                   `default:".state" type:"path" help:"State folder of the process that serves."`
	Database privatepg.Config         `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
}

// Do does what the command says.
func (r *replayPropagation) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	url, err := privatepg.Running(ctx, r.Database, filepath.Join(r.StateDir, "postgresql"), log, "scheduling")
	if err != nil {
		return err
	}
	return r.Command.Do(ctx, pg.Config{URL: url, AllowInsecure: r.Database.AllowInsecure}, log, out)
}

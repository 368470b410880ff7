package standalone

import (
	"cmp"
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

// Propagations contains the commands for the application of changes to schedules.
type Propagations struct {
	List   listPropagations  `cmd:"" help:"List propagations, the newest first."`
	Show   showPropagation   `cmd:"" help:"Show one propagation."`
	Follow followPropagation `cmd:"" help:"Show the progress of a propagation until it finishes or fails."`
	Replay replayPropagation `cmd:"" help:"Retry a failed propagation while the API is served."`
	Undo   undoPropagation   `cmd:"" help:"Undo the change of a propagation."`
	Pause  pausePropagation  `cmd:"" help:"Stop a propagation until it is resumed."`
	Resume resumePropagation `cmd:"" help:"Continue a paused propagation."`
}

const (
	propagationsPath = "/v1/scheduling/propagations"
	// followEvery is the polling interval of follow.
	followEvery = 500 * time.Millisecond
	// listedFailures is the largest number of failures in a line of the list.
	listedFailures = 3
)

// propagation is a propagation in the API's representation.
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
		Persons   []struct {
			Employee reference `json:"employee"`
			Days     []struct {
				StartDate string `json:"startDate"`
				EndDate   string `json:"endDate"`
			} `json:"days"`
		} `json:"persons"`
	} `json:"skipped"`
	Warnings        []scheduleWarning    `json:"warnings"`
	EmploymentTerms []reference          `json:"employmentTerms"`
	Planner         reference            `json:"planner"`
	Patterns        []propagationPattern `json:"patterns"`
	EmployeesFailed int64                `json:"employeesFailed"`
	Failures        []propagationFailure `json:"failures"`
}

// propagationFailure is the reason why the schedule of an employee could not be updated.
type propagationFailure struct {
	Employee  reference `json:"employee"`
	ErrorCode string    `json:"errorCode"`
	Message   string    `json:"message"`
}

// String returns the employee and the error.
func (f *propagationFailure) String() string {
	return fmt.Sprintf("employee %s: %s %s", f.Employee, f.ErrorCode, f.Message)
}

// failureLines returns a line for each listed employee, and one for the others.
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

// progress returns the number of employees whose schedules are up to date, of all affected ones.
func (p *propagation) progress() string {
	if p.EmployeesTotal == nil {
		return "-"
	}
	return fmt.Sprintf("%d/%d", p.EmployeesDone, *p.EmployeesTotal)
}

type listPropagations struct {
	boot.Output
	remote.Server
	State   []string `help:"List only propagations in these states: ACCEPTED, RUNNING, FINISHED, FAILED."`
	Request string   `help:"List only propagations of the request with this X-Request-Id."`
	Count   int      `default:"20" help:"Largest number of propagations to list, up to 1000."`
}

// Do prints one line for each propagation.
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
		fmt.Fprintln(table, "id\tstate\tcause\tterm\tpattern\tplanner\temployees\twarnings\taccepted\tfinished\terror")
		for _, p := range found {
			reason := p.Error
			if lines := p.failureLines(); len(lines) > 0 {
				reason = strings.Join(lines[:min(len(lines), listedFailures)], "; ")
			}
			fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", p.ID, p.State, p.Cause, p.terms(), p.patterns(), p.Planner.name(),
				p.progress(), p.warnings(), p.AcceptedAt, p.FinishedAt, reason)
		}
	})
}

// onePropagation selects a propagation.
type onePropagation struct {
	remote.Server
	ID int64 `arg:"" help:"Id of the propagation, as shown by list and at the end of a response's Content-Location."`
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

// Do prints the propagation.
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
			{"term", p.terms()},
			{"pattern", p.patterns()},
			{"planner", p.Planner.name()},
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
		for _, skipped := range p.Skipped {
			fmt.Fprintf(table, "skipped\t%s of %d employees\n", skipped.Reason, skipped.Employees)
			for _, person := range skipped.Persons {
				for _, days := range person.Days {
					fmt.Fprintf(table, "\temployee %s: %s to %s\n", person.Employee, days.StartDate, cmp.Or(days.EndDate, "no end"))
				}
			}
		}
		for _, w := range p.Warnings {
			fmt.Fprintf(table, "warning\t%s of %d employees\n", w.Code, w.Employees)
			for _, person := range w.Persons {
				fmt.Fprintf(table, "\temployee %s: %s\n", person.Employee, person.Text)
			}
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

// Do prints a line whenever there is progress. It returns a [boot.CheckFailed] if the propagation fails.
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

// replayPropagation works on the database of a serving process.
type replayPropagation struct {
	Command  scheduling.ReplayCommand `embed:""`
	StateDir string                   `default:".state" type:"path" help:"State folder of the serving process."`
	Database privatepg.Config         `embed:"" prefix:"database-" envprefix:"ROTALOOM_DATABASE_"`
}

// Do retries the propagation.
func (r *replayPropagation) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	if err := requireTenant(ctx, r.Database, r.StateDir, r.Command.Tenant, log); err != nil {
		return err
	}
	url, err := privatepg.Running(ctx, r.Database, filepath.Join(r.StateDir, "postgresql"), log, "scheduling")
	if err != nil {
		return err
	}
	return r.Command.Do(ctx, pg.Config{URL: url, AllowInsecure: r.Database.AllowInsecure}, log, out)
}

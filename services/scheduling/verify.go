package scheduling

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
)

const (
	// Settle is the time that changes may be in transit to the copies.
	Settle = 3 * time.Second
	// progressEvery is the interval between logs of progress.
	progressEvery = 5 * time.Second
)

// VerifyCommand compares the schedules of a tenant with the rules, and scheduling's copies with
// their owners. It changes nothing.
type VerifyCommand struct {
	boot.Output
	Tenant int64 `default:"1" help:"The tenant."`
}

// verifyResult is the result for programs.
type verifyResult struct {
	Tenant    int64 `json:"tenant"`
	Employees int   `json:"employees"`
	Spans     int   `json:"spans"`
	// Entries counts changed and deleted entries.
	Entries int `json:"editedEntries"`
	// Different counts the employees whose spans or entries differ. Differences has the first of
	// them.
	Different   int                  `json:"different"`
	Differences []verifiedDifference `json:"differences"`
	// Unfinished counts the unfinished propagations. While there are any, differences are expected.
	Unfinished int `json:"unfinishedPropagations"`
	// Copies is absent if copies were not compared.
	Copies []CopyDifference `json:"copies,omitempty"`
}

type verifiedDifference struct {
	Employee int64 `json:"employee"`
	Missing  int   `json:"missingSpans"`
	Surplus  int   `json:"surplusSpans"`
	// Entries are the ids of edited and deleted entries that are wrongly shown or hidden.
	Entries []int64 `json:"differentEntries,omitempty"`
}

// Comparison compares copies of a tenant with their owners.
type Comparison func(ctx context.Context) ([]CopyDifference, error)

// Do prints one line for each employee whose schedule differs, at most 100, and a summary. If a
// broker is configured, it also prints the differences between scheduling's copies and their
// owners. The log shows the progress. Differences are a [boot.CheckFailed].
func (v *VerifyCommand) Do(ctx context.Context, database pg.Config, broker natsconn.Config, log *slog.Logger, out io.Writer) error {
	if broker.URL.Reveal() == "" {
		return v.Compare(ctx, database, nil, log, out)
	}
	return v.Compare(ctx, database, func(ctx context.Context) ([]CopyDifference, error) {
		conn, err := natsconn.Connect(broker, "propagator", log) // This user may send requests to the owners.
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		pool, err := pg.Open(ctx, database, log)
		if err != nil {
			return nil, err
		}
		defer pool.Close()
		return CompareCopies(ctx, pool, conn, log, Settle)
	}, log, out)
}

// Compare works like Do with another comparison of copies; nil omits it.
func (v *VerifyCommand) Compare(ctx context.Context, database pg.Config, copies Comparison, log *slog.Logger, out io.Writer) error {
	pool, err := pg.Open(ctx, database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	report, err := reconcile.Verify(tenant.With(ctx, v.Tenant), pool, logProgress(ctx, log))
	if err != nil {
		return err
	}
	found := verifyResult{
		Tenant: v.Tenant, Employees: report.Employees, Spans: report.Spans, Entries: report.Entries, Different: report.Different,
		Differences: []verifiedDifference{}, Unfinished: report.Unfinished,
	}
	for _, d := range report.Differences {
		found.Differences = append(found.Differences, verifiedDifference{d.EmployeeID, len(d.Missing), len(d.Surplus), d.Entries})
	}
	if copies != nil {
		if found.Copies, err = copies(tenant.With(ctx, v.Tenant)); err != nil {
			return err
		}
	}
	if err := v.print(out, found, copies != nil); err != nil {
		return err
	}
	return found.failure()
}

// logProgress logs the number of verified employees from time to time.
func logProgress(ctx context.Context, log *slog.Logger) func(employees int) {
	since := clock.Start()
	return func(employees int) {
		if since.Elapsed() >= progressEvery {
			log.InfoContext(ctx, "verifying", "employees", employees)
			since = clock.Start()
		}
	}
}

func (v *VerifyCommand) print(out io.Writer, found verifyResult, compared bool) error {
	if v.JSON() {
		return v.Print(out, found, nil)
	}
	for _, d := range found.Differences {
		if d.Missing+d.Surplus > 0 {
			fmt.Fprintf(out, "employee %d: %d spans are missing, %d should not be there\n", d.Employee, d.Missing, d.Surplus)
		}
		if len(d.Entries) > 0 {
			fmt.Fprintf(out, "employee %d: edited entries show or hide otherwise than they should: %d\n", d.Employee, d.Entries)
		}
	}
	_, err := fmt.Fprintf(out, "%d employees with %d spans and %d edited entries: %d differ; %d propagations have not finished\n",
		found.Employees, found.Spans, found.Entries, found.Different, found.Unfinished)
	for _, c := range found.Copies {
		_, err = fmt.Fprintf(out, "copy of %s in %s: %d keys are not as their owner has them\n", c.Topic, c.Service, c.Keys)
	}
	if !compared {
		_, err = fmt.Fprintln(out, "copies of other services were not compared with them: give --nats-url")
	}
	return err
}

// failure returns an error if there are differences, or nil.
func (f verifyResult) failure() error {
	if f.Different > 0 {
		return &boot.CheckFailed{Found: fmt.Sprintf("the schedules of %d employees are not what the rules say", f.Different)}
	}
	lacking := 0
	for _, c := range f.Copies {
		lacking += c.Keys
	}
	if lacking > 0 {
		return &boot.CheckFailed{Found: fmt.Sprintf("the copies differ from their owners in %d keys", lacking)}
	}
	return nil
}

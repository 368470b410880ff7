package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation"
)

// place says where the tasks of operators work.
type place struct {
	Tenant int64 `default:"1" help:"The tenant."`

	database *pg.Config `kong:"-"`
}

type verify struct{ place }

// Do prints one line for each employee whose schedule differs, at most a
// hundred, and a summary. Differences are an error.
func (v *verify) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	pool, err := pg.Open(ctx, *v.database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	report, err := propagation.Verify(ctx, pool, v.Tenant)
	if err != nil {
		return err
	}
	for _, d := range report.Differences {
		fmt.Fprintf(out, "employee %d: %d spans are missing, %d should not be there\n", d.EmployeeID, len(d.Missing), len(d.Surplus))
	}
	fmt.Fprintf(out, "%d employees with %d spans: %d differ; %d propagations have not finished\n",
		report.Employees, report.Spans, report.Different, report.Unfinished)
	if report.Different > 0 {
		return fmt.Errorf("the schedules of %d employees are not what the rules say", report.Different)
	}
	return nil
}

type replay struct {
	place
	ID int64 `arg:"" help:"The propagation, as in /v1/scheduling/propagations/{id}."`
}

// Do asks for what the propagation has not done. Whoever relays the outbox
// passes that on.
func (r *replay) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	pool, err := pg.Open(ctx, *r.database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := propagation.Replay(tenant.With(ctx, r.Tenant), pool, r.ID); err != nil {
		return err
	}
	fmt.Fprintf(out, "propagation %d goes on\n", r.ID)
	return nil
}

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/propagator"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/reconcile"
)

// target says where the tasks of operators work.
type target struct {
	Tenant int64 `default:"1" help:"The tenant."`

	database *pg.Config `kong:"-"`
}

type verify struct {
	target

	broker *bus.Config `kong:"-"`
}

// settle is how long what is on its way to the copies may take.
const settle = 3 * time.Second

// Do prints one line for each employee whose schedule differs, at most a
// hundred, and a summary; then, when a broker is named, how far the copies differ
// from what their owners have. Differences are an error.
func (v *verify) Do(ctx context.Context, log *slog.Logger, out io.Writer) error {
	pool, err := pg.Open(ctx, *v.database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	report, err := reconcile.Verify(ctx, pool, v.Tenant)
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
	if v.broker.URL.Reveal() == "" {
		_, err := fmt.Fprintln(out, "copies of other services were not compared with them: give --nats-url")
		return err
	}
	return v.compare(ctx, pool, log, out)
}

// compare compares the copies with their owners.
func (v *verify) compare(ctx context.Context, pool *pg.Pool, log *slog.Logger, out io.Writer) error {
	conn, err := bus.Connect(*v.broker, "verify", log)
	if err != nil {
		return err
	}
	defer conn.Close()
	found, err := scheduling.Lacking(ctx, pool, conn, log, v.Tenant, settle)
	if err != nil {
		return err
	}
	lacking := 0
	for _, l := range found {
		lacking += l.Keys
		fmt.Fprintf(out, "%s: %d keys are not as their owner has them\n", l.Topic, l.Keys)
	}
	if lacking > 0 {
		return fmt.Errorf("the copies differ from their owners in %d keys", lacking)
	}
	return nil
}

type replay struct {
	target
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
	if err := propagator.Replay(tenant.With(ctx, r.Tenant), pool, r.ID); err != nil {
		return err
	}
	fmt.Fprintf(out, "propagation %d goes on\n", r.ID)
	return nil
}

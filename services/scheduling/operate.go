package scheduling

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotaloom/rotaloom/pkg/boot"
	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employmentterm"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/leave"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/membership"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/propagation/propagator"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/scheduleevent"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/timeoffedit"
)

// CopyDifference is the number of keys of a topic that differ between the copy of a service and its
// owner.
type CopyDifference struct {
	Service string `json:"service"`
	Topic   string `json:"topic"`
	Keys    int    `json:"differentKeys"`
}

// Topics returns the topics that scheduling owns and other services copy.
func Topics() []replica.Topic {
	return append(scheduleevent.Topics(), employmentterm.Topic(), membership.Topic())
}

// NewestChange is the statement that returns the time of the newest change of schedules if it is
// later than $1.
const NewestChange = `
SELECT max(at) FROM (SELECT 'epoch'::timestamptz + last_value * interval '1 microsecond' AS at FROM schedule_revision) AS newest WHERE at > $1`

// Copies returns scheduling's copies of data of other services.
func Copies(pool *pg.Pool) []*replica.Replica {
	return projection.NewCopies(pool, nil).All()
}

// CompareCopies compares scheduling's copies for a tenant with their owners. It waits for up to
// settle for changes in transit. It is an error if an owner does not respond.
func CompareCopies(ctx context.Context, pool *pg.Pool, conn *nats.Conn, log *slog.Logger, settle time.Duration) ([]CopyDifference, error) {
	events, err := bus.New(bus.Options{Conn: conn, DeadLetters: outbox.NewDeadLetters(pool), Log: log, Registry: prometheus.NewRegistry()})
	if err != nil {
		return nil, err
	}
	var found []CopyDifference
	for _, c := range Copies(pool) {
		keys, err := c.CountDifferences(ctx, events, settle)
		if err != nil {
			return nil, err
		}
		found = append(found, CopyDifference{c.Service(), c.Contract().Topic, keys})
	}
	return found, nil
}

// EmployeesWithLeave returns the tenant's employees with leave on their schedules.
func EmployeesWithLeave(ctx context.Context, db pg.Querier) ([]int64, error) {
	return leave.Employees(ctx, db)
}

// RequestsWithTimeOff returns the tenant's requests with time off on schedules, with their
// employees.
func RequestsWithTimeOff(ctx context.Context, db pg.Querier) (map[int64]int64, error) {
	return timeoffedit.Requests(ctx, db)
}

// CountLeaveDifferences counts the employees whose leave on the schedule differs from the given
// state.
func CountLeaveDifferences(ctx context.Context, db pg.Querier, states []*schedulingv1.EmployeeLeaveState) (int, error) {
	return leave.CountDifferences(ctx, db, states)
}

// ReplayCommand restarts a failed propagation.
type ReplayCommand struct {
	boot.Output
	Tenant int64 `default:"1" help:"The tenant."`
	ID     int64 `arg:"" help:"The propagation, as in /v1/scheduling/propagations/{id}."`
}

// Do requests the remaining batches of the propagation. A running process relays the request from
// the outbox.
func (r *ReplayCommand) Do(ctx context.Context, database pg.Config, log *slog.Logger, out io.Writer) error {
	pool, err := pg.Open(ctx, database, log)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := propagator.Replay(tenant.With(ctx, r.Tenant), pool, r.ID, clock.System{}.Now()); err != nil {
		return err
	}
	return r.PrintLine(out, map[string]any{"tenant": r.Tenant, "propagation": r.ID}, "propagation %d continues", r.ID)
}

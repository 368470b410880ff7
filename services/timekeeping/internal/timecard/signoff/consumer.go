package signoff

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// concurrency is the number of comparisons that one process makes at the same time.
const concurrency = 2

// Consumers returns the consumers that compare signed-off days with the schedule: one requests
// comparisons after changes of schedules, and the other one makes them.
func (s *Store) Consumers() []bus.Consumer {
	changes := bus.NewConsumer("timekeeping", &schedulingv1.ScheduleChanged{})
	changes.Handle = func(ctx context.Context, m bus.Message) error {
		event, err := bus.Decode[*schedulingv1.ScheduleChanged](m)
		if err != nil {
			return err
		}
		days, err := daysThrough(event.GetFrom(), event.GetTo())
		if err != nil {
			return err
		}
		return s.RequestComparisons(tenant.With(ctx, m.Tenant), event.GetEmployeeIds(), days)
	}
	comparisons := bus.NewConsumer("timekeeping", &timekeepingv1.ScheduleComparisonRequested{})
	comparisons.Concurrency, comparisons.Prefetch = concurrency, concurrency
	comparisons.Handle = func(ctx context.Context, m bus.Message) error {
		event, err := bus.Decode[*timekeepingv1.ScheduleComparisonRequested](m)
		if err != nil {
			return err
		}
		days, err := daysThrough(event.GetFrom(), event.GetTo())
		if err != nil {
			return err
		}
		return s.CompareAll(tenant.With(ctx, m.Tenant), event.GetEmployeeIds(), days)
	}
	return []bus.Consumer{changes, comparisons}
}

// daysThrough returns the days of an event, whose last day is included.
func daysThrough(from, to string) (civil.Range, error) {
	first, err := civil.ParseDate(from)
	if err != nil {
		return civil.Range{}, bus.Permanent(fmt.Errorf("read the days of an event: %w", err))
	}
	last, err := civil.ParseDate(to)
	if err != nil {
		return civil.Range{}, bus.Permanent(fmt.Errorf("read the days of an event: %w", err))
	}
	return civil.Through(first, last), nil
}

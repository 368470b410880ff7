// Package projection keeps copies of what other services know, for queries:
// employment terms and who is on them, and what schedules follow from, which is the
// shifts of patterns, who follows which pattern from when to when, what people
// entered, and leave.
package projection

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// batch is how many events are applied in one transaction: one can hold a
// thousand persons.
const batch = 8

// What is done of spans at a time, and how long after they were published. A change of
// a rotation publishes thousands of employees within a second, while others wait
// to see it; what only queries need leaves the machine to them until then.
const (
	spansBatch = 64
	spansAfter = time.Second
)

// service is what the contracts call the one that keeps the copies.
const service = "commons"

// Copies are the copies that queries need. Every list of memberships that arrives
// is shown to observe, in the same transaction.
func Copies(pool *pg.Pool, observe func(context.Context, pgx.Tx, int64, []*schedulingv1.PersonMemberships) error) []*replica.Replica {
	return []*replica.Replica{
		replica.New(pool, replica.Copy[*schedulingv1.EmploymentTermChanged]{
			Service: service, Event: &schedulingv1.EmploymentTermChanged{}, Apply: applyTerms,
		}),
		replica.New(pool, replica.Copy[*schedulingv1.PersonMemberships]{
			Service: service, Event: &schedulingv1.MembershipsChanged{}, Apply: applyMemberships, Observe: observe,
		}),
		replica.New(pool, replica.Copy[*schedulingv1.PatternStored]{
			Service: service, Event: &schedulingv1.PatternStored{}, BatchSize: batch, Apply: applyPatterns,
		}),
		replica.New(pool, replica.Copy[*schedulingv1.EqualSpans]{
			Service: service, Event: &schedulingv1.SpansChanged{}, BatchSize: spansBatch, Delay: spansAfter, Apply: applySpans, Marks: spanMarks,
		}),
		replica.New(pool, replica.Copy[*schedulingv1.EnteredShift]{
			Service: service, Event: &schedulingv1.ShiftsEntered{}, BatchSize: batch, Apply: applyShifts, Marks: shiftMarks,
		}),
		replica.New(pool, replica.Copy[*schedulingv1.EmployeeLeave]{
			Service: service, Event: &schedulingv1.LeaveTaken{}, BatchSize: batch, Apply: applyLeave,
		}),
	}
}

// segments are rows of segments, in columns as the database takes them.
type segments struct {
	jobs         []string
	numbers      []int16
	starts, ends []int32
}

var errJob = bus.Permanent(errors.New("projection: an event names a job that it does not have"))

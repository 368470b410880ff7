// Package projection keeps copies of other services' data for queries: employment terms and
// their members, and the sources of schedules: the shifts of patterns, the spans of employees
// in patterns, entered shifts, and leave.
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

// batch is the number of events in one transaction. An event can contain a thousand persons.
const batch = 8

// Batch size and delay for span events. A change of a rotation publishes thousands of
// employees within a second, while users wait to see it. The delay leaves the machine to
// them, because only queries need the spans.
const (
	spansBatch = 64
	spansAfter = time.Second
)

// service is the name of this service in the contracts.
const service = "commons"

// Copies returns the copies that queries need. Each received list of memberships is passed to
// observe, in the same transaction.
func Copies(pool *pg.Pool, observe func(context.Context, pgx.Tx, []*schedulingv1.PersonMemberships) error) []*replica.Replica {
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
			Service: service, Event: &schedulingv1.SpansChanged{}, BatchSize: spansBatch, Delay: spansAfter, Apply: applySpans, Fingerprints: spanFingerprints,
		}),
		replica.New(pool, replica.Copy[*schedulingv1.EnteredShift]{
			Service: service, Event: &schedulingv1.ShiftsEntered{}, BatchSize: batch, Apply: applyShifts, Fingerprints: shiftFingerprints,
		}),
		replica.New(pool, replica.Copy[*schedulingv1.EmployeeLeave]{
			Service: service, Event: &schedulingv1.LeaveTaken{}, BatchSize: batch, Apply: applyLeave,
		}),
	}
}

// segment is a segment of a shift with its number in the shift.
type segment struct {
	number     int16
	job        string
	start, end int32
}

var errJob = bus.Permanent(errors.New("projection: an event names a job that it does not have"))

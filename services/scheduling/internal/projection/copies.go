package projection

import (
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
)

// service is what the contracts call this one.
const service = "scheduling"

// Copies are what scheduling keeps of other domains.
type Copies struct {
	persons, terms, memberships, leaveEdits, holidays *replica.Replica
}

// NewCopies makes the copies in the database of the pool. The history of an
// employee has one order, whatever changes: so memberships and leave are changed
// under the lock of the employees. What they change starts
// propagations in the same transaction; wake notifies the outbox relay of those.
func NewCopies(pool *pg.Pool, wake func()) *Copies {
	return &Copies{
		persons: replica.New(pool, replica.Copy[*commonsv1.PersonState]{
			Service: service, Event: &commonsv1.PersonsChanged{}, Apply: applyPersons, Wake: wake,
		}),
		terms: replica.New(pool, replica.Copy[*timekeepingv1.EmploymentTermChanged]{
			Service: service, Event: &timekeepingv1.EmploymentTermChanged{}, Apply: applyTerms, Wake: wake,
		}),
		memberships: replica.New(pool, replica.Copy[*timekeepingv1.PersonMemberships]{
			Service: service, Event: &timekeepingv1.MembershipsChanged{}, Lock: employeelock.Lock, Apply: applyMemberships, Wake: wake,
		}),
		leaveEdits: replica.New(pool, replica.Copy[*timekeepingv1.EmployeeLeaveEdits]{
			Service: service, Event: &timekeepingv1.LeaveEditsChanged{}, Lock: employeelock.Lock, Apply: applyLeaveEdits, Wake: wake,
		}),
		holidays: replica.New(pool, replica.Copy[*commonsv1.HolidayChanged]{
			Service: service, Event: &commonsv1.HolidayChanged{}, Apply: applyHolidays,
		}),
	}
}

// All are the copies one by one.
func (c *Copies) All() []*replica.Replica {
	return []*replica.Replica{c.persons, c.terms, c.memberships, c.leaveEdits, c.holidays}
}

type (
	personChange     = replica.Change[*commonsv1.PersonState]
	termChange       = replica.Change[*timekeepingv1.EmploymentTermChanged]
	membershipChange = replica.Change[*timekeepingv1.PersonMemberships]
	holidayChange    = replica.Change[*commonsv1.HolidayChanged]
	leaveStepChange  = replica.Change[*timekeepingv1.EmployeeLeaveEdits]
)

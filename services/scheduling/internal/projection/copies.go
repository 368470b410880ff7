package projection

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// service is what the contracts call this one.
const service = "scheduling"

// Copies are what scheduling keeps of other domains.
type Copies struct {
	persons, holidays *replica.Replica
}

// AfterPersons is called with every state of persons that comes, when it is stored.
type AfterPersons func(ctx context.Context, tenantID int64, states []*commonsv1.PersonState) error

// NewCopies makes the copies in the database of the pool. What the copies
// change starts propagations in the same transaction. After is nil where nothing follows from states of persons.
func NewCopies(pool *pg.Pool, after AfterPersons) *Copies {
	return &Copies{
		persons: replica.New(pool, replica.Copy[*commonsv1.PersonState]{
			Service: service, Event: &commonsv1.PersonsChanged{}, Apply: applyPersons, After: after,
		}),
		holidays: replica.New(pool, replica.Copy[*commonsv1.HolidayChanged]{
			Service: service, Event: &commonsv1.HolidayChanged{}, Apply: applyHolidays,
		}),
	}
}

// All are the copies one by one.
func (c *Copies) All() []*replica.Replica {
	return []*replica.Replica{c.persons, c.holidays}
}

type (
	personChange  = replica.Change[*commonsv1.PersonState]
	holidayChange = replica.Change[*commonsv1.HolidayChanged]
)

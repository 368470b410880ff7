package projection

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

// service is the name of this service in the contracts.
const service = "scheduling"

// Copies are scheduling's copies of data of other services.
type Copies struct {
	persons, holidays *replica.Replica
	// names are the copies of the names of setup.
	names []*replica.Replica
}

// AfterPersons is called with the states of persons after they are stored.
type AfterPersons func(ctx context.Context, states []*commonsv1.PersonState) error

// NewCopies returns the copies in the database of the pool. Changes start propagations in the same
// transaction. after can be nil.
func NewCopies(pool *pg.Pool, after AfterPersons) *Copies {
	return &Copies{
		persons: replica.New(pool, replica.Copy[*commonsv1.PersonState]{
			Service: service, Event: &commonsv1.PersonsChanged{}, Apply: applyPersons, After: after,
		}),
		holidays: replica.New(pool, replica.Copy[*commonsv1.HolidayChanged]{
			Service: service, Event: &commonsv1.HolidayChanged{}, Apply: applyHolidays,
		}),
		names: setupref.NewCopies(pool),
	}
}

// All returns all copies.
func (c *Copies) All() []*replica.Replica {
	return append([]*replica.Replica{c.persons, c.holidays}, c.names...)
}

type (
	personChange  = replica.Change[*commonsv1.PersonState]
	holidayChange = replica.Change[*commonsv1.HolidayChanged]
)

// Package dataprovider serves the data elements of employment terms, of leave and of
// timecards to information access: the providers TK, LEAVE and TIMECARD.
package dataprovider

import (
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/card"
)

// maxEmployeeDays is the service limit of all providers, that of reading leave.
var maxEmployeeDays = int64(leavecase.MaxRead)

type (
	at    = dataelement.At
	value = dataelement.Value
)

// NewServer makes the service of the providers.
func NewServer(pool *pg.Pool, cards *card.Reader, periods Periods) *dataelement.Server {
	return dataelement.NewServer(newTerms(pool), newLeave(pool), newTimecards(cards, periods))
}

// lastDay returns the last day that belongs to a range, forever for one without
// end.
func lastDay(days civil.Range) civil.Date {
	if days.To >= civil.Forever {
		return civil.Forever
	}
	return days.To - 1
}

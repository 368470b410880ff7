// Package dataprovider serves the data elements of leave and of timecards to
// information access: the providers LEAVE and TIMECARD.
package dataprovider

import (
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
	return dataelement.NewServer(newLeave(pool), newTimecards(cards, periods))
}

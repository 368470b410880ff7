// Package dataprovider serves the data elements of leave, timecards and scheduled pay codes to
// information access: the providers LEAVE and TIMECARD, and a part of SCH.
package dataprovider

import (
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/pg"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
)

// maxEmployeeDays is the service limit of all providers. It equals the limit of reading leave.
var maxEmployeeDays = int64(leavecase.MaxRead)

type (
	at    = dataelement.At
	value = dataelement.Value
)

// NewServer returns the service of the providers.
func NewServer(pool *pg.Pool, timecards *calculation.Reader, periods Periods, source Schedules) *dataelement.Server {
	return dataelement.NewServer(newLeave(pool), newTimecards(timecards, periods),
		newScheduledPayCodes(pool, source, datav1.RowKind_ROW_KIND_EMPLOYEE), newScheduledPayCodes(pool, source, datav1.RowKind_ROW_KIND_LOCATION))
}

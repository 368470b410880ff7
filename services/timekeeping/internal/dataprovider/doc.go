// Package dataprovider serves the data elements of employment terms and of leave
// to information access: the providers TK and LEAVE.
package dataprovider

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
)

// mostEmployeeDays is the service limit of both providers, that of reading
// leave.
const mostEmployeeDays = 84_000

type (
	at    = dataelement.At
	value = dataelement.Value
)

// NewServer makes the service of the providers.
func NewServer(pool *pgxpool.Pool) *dataelement.Server {
	return dataelement.NewServer(newTerms(pool), newLeave(pool))
}

// lastDay answers the last day that belongs to a range, forever for one without
// end.
func lastDay(days civil.Range) civil.Date {
	if days.To >= civil.Forever {
		return civil.Forever
	}
	return days.To - 1
}

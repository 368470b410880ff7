// Package payrollstaging stages payroll: background work adds up the time of employees and copies
// it, with imported earnings, to rows that never change.
//
// A request for a run divides it into batches of employees, and requests each batch with an event
// of the outbox. A worker reads the time of a batch in one snapshot. In one transaction it stores
// the rows of the batch, its earnings, its end, and the progress of the run. So an event is only a
// hint: a repeated event does no harm, and a worker that crashes leaves nothing half done. The
// sweep requests batches again if the broker lost their events.
package payrollstaging

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Source reads the time of employees. It also returns employees that the caller may not see.
type Source interface {
	// Totals returns the totals of employees on days, at most maxBatch of them.
	Totals(ctx context.Context, employees []int64, days civil.Range) ([]Employee, error)
}

// Employee is the time of one employee.
type Employee struct {
	ID int64
	// PayRule is the name of the pay rule on the last day, or "".
	PayRule string
	Totals  []Total
}

// Total is the time, days or money of one day under a pay code and a job.
type Total struct {
	Date civil.Date
	// PayCodeID is 0 if no pay code has the name.
	PayCodeID int64
	PayCode   string
	// Job is a path, or the id of a job if only its id is known, or "".
	Job  string
	Kind Kind
	// Historical is the signed-off day that a correction corrects.
	Historical *civil.Date
	// Seconds is exact and may be negative in corrections.
	Seconds int64
	// Days and Money are decimal texts, or "".
	Days, Money string
	SignedOff   bool
	// Cause is the cause of a correction: causeSigned or causeStaged, or "".
	Cause string
}

// Kind is the origin of a row.
type Kind string

// The kinds of rows.
const (
	Worked      Kind = "WORKED"
	PayCodeEdit Kind = "PAY_CODE_EDIT"
	Correction  Kind = "HISTORICAL_CORRECTION"
	Earning     Kind = "EARNING"
)

// Deps are the dependencies of staging.
type Deps struct {
	Pool    *pg.Pool
	Persons *person.Directory
	Commons commonsv1.PersonServiceClient
	Source  Source
	CSV     CSVConfig
}

// Package payrollstaging stages payroll: background work adds up the time of
// employees and copies it, with imported earnings, to rows that stay as they are.
//
// A run is divided into batches of employees when it is asked for, and each batch is
// asked for by an event of the outbox. A worker reads the time of a batch at one
// moment and stores its rows, the earnings that it takes, its end and the run's
// progress in one transaction. So an event is only a hint: it does no harm when it
// comes twice, and a worker that dies leaves nothing half done. The sweep asks again for
// batches whose events the broker lost.
package payrollstaging

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
)

// Source knows the time of employees. It returns employees that the caller may not see, too.
type Source interface {
	// Totals returns the totals of employees on days, at most maxBatch of them.
	Totals(ctx context.Context, tenantID int64, employees []int64, days civil.Range) ([]Employee, error)
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
	// PayCode has the id 0 when no pay code of the name exists.
	PayCodeID int64
	PayCode   string
	// Job is a path, the id of a job that is known by its id only, or "".
	Job  string
	Kind Kind
	// Historical is the signed-off day that a correction corrects.
	Historical *civil.Date
	// Seconds is exact and may be negative in corrections.
	Seconds int64
	// Days and Money are decimal texts, or "".
	Days, Money string
	SignedOff   bool
	// Cause says why a correction corrects a day: causeSigned or causeStaged, or "".
	Cause string
}

// Kind says where a row comes from.
type Kind string

// The kinds of rows.
const (
	Worked      Kind = "WORKED"
	PayCodeEdit Kind = "PAY_CODE_EDIT"
	Correction  Kind = "HISTORICAL_CORRECTION"
	Earning     Kind = "EARNING"
)

// Deps are what staging works with.
type Deps struct {
	Pool    *pg.Pool
	Persons *person.Directory
	Commons commonsv1.PersonServiceClient
	Source  Source
	CSV     CSVConfig
}

// Package timecard keeps the punches of employees, and calculates their timecards when
// they are read.
package timecard

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// Reader calculates timecards.
type Reader struct {
	pool  *pg.Pool
	days  commonsv1.EmployeeDayServiceClient
	zones civil.Zones
	now   func() time.Time
}

// NewReader returns a Reader of the database of the pool. It asks commons for the
// schedule.
func NewReader(pool *pg.Pool, days commonsv1.EmployeeDayServiceClient, now func() time.Time) *Reader {
	return &Reader{pool: pool, days: days, now: now}
}

// punch is a punch as it is stored.
type punch struct {
	worktime.Punch
	workRuleID *int64
	workRule   string
	// body is only read when it is to be shown.
	body               []byte
	entered, updatedAt time.Time
}

// Package leaveday checks whether a day of an employee has room for more leave. Time off, leave
// edits and pay code edits of timecards use it, so that their sum never exceeds the hours of a day.
package leaveday

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/amount"
)

// Our own codes of days that have no room for leave.
const (
	// CodeDayFull (400): the leave would exceed the hours of the day. Request less, or cancel the
	// leave that the message names.
	CodeDayFull = "WRL-21101"
	// CodeOverlap (400): other leave of the day uses some of the same hours. Request other hours,
	// or cancel the leave that the message names.
	CodeOverlap = "WRL-21102"
)

// lock has employees as members: changes of their leave run one after the other.
const lock advisory.Lock = "time off of employees"

// Lock waits until no other transaction changes leave of an employee, and blocks such changes until
// tx ends.
func Lock(ctx context.Context, tx pgx.Tx, employeeID int64) error {
	return lock.WaitEach(ctx, tx, []int64{employeeID})
}

const readMark = `
SELECT concat_ws(' ',
    (SELECT count(*) + sum(version) FROM time_off_request WHERE tenant_id = $1 AND employee_id = $2),
    (SELECT version FROM leave_edit_head WHERE tenant_id = $1 AND employee_id = $2),
    (SELECT concat_ws(' ', count(*), max(id), max(updated_at)) FROM timecard_edit WHERE tenant_id = $1 AND employee_id = $2))`

// ReadMark returns a text that differs after each change of the leave of an employee. A caller that
// reads balances before its transaction compares the text again under the [Lock].
func ReadMark(ctx context.Context, db pg.Querier, employeeID int64) (mark string, err error) {
	if err := db.QueryRow(ctx, readMark, tenant.Of(ctx), employeeID).Scan(&mark); err != nil {
		return "", fmt.Errorf("read the mark of leave: %w", err)
	}
	return mark, nil
}

// Kind is the type of entry that contains leave.
type Kind int

// The kinds of leave.
const (
	TimeOff Kind = iota + 1
	LeaveEdit
	TimecardEdit
	ScheduleEdit
)

// Source identifies an entry that uses time of a day.
type Source struct {
	Kind Kind
	// ID is 0 for an entry that is not yet stored, and for edits of the schedule.
	ID int64
}

func (s Source) String() string {
	name := map[Kind]string{
		TimeOff: "time off request", LeaveEdit: "leave edit", TimecardEdit: "pay code edit of the timecard", ScheduleEdit: "pay code edit of the schedule",
	}[s.Kind]
	if s.ID == 0 {
		return "another " + name
	}
	return name + " " + strconv.FormatInt(s.ID, 10)
}

// Deduction is the leave that an entry takes from a day.
type Deduction struct {
	Source Source
	Day    civil.Date
	// PayCode is the pay code of time off.
	PayCode *commonv1.Ref
	// Seconds and Parts are added together. Parts are ten-thousandths of the day.
	Seconds, Parts int64
	// Start and End, if End is not 0, are seconds after the midnight that begins the day.
	Start, End int32
	// FreeOnHolidays means that the deduction costs nothing on a holiday. It still uses the hours
	// of the day.
	FreeOnHolidays bool
}

// size returns the seconds that a deduction uses of a day with the given length, times amount.PerUnit.
func (t Deduction) size(length int64) int64 { return t.Seconds*amount.PerUnit + t.Parts*length }

// overlaps reports whether two deductions use some of the same hours. Deductions without a start use any
// hours that remain.
func (t Deduction) overlaps(o Deduction) bool {
	return t.End > 0 && o.End > 0 && t.Start < o.End && o.Start < t.End
}

// check returns an error if a day of the given length has no room for added deductions beside its
// present leave.
func check(day civil.Date, length int64, standing, added []Deduction) error {
	var taken, wanted int64
	for _, t := range standing {
		taken += t.size(length)
	}
	for i, t := range added {
		if t.size(length) <= 0 {
			continue
		}
		for _, other := range slices.Concat(standing, added[:i]) {
			if t.overlaps(other) && other.size(length) > 0 {
				return fault.Invalid(CodeOverlap, fmt.Sprintf("On %s the hours from %s to %s overlap those from %s to %s of %s.",
					day, clock(t.Start), clock(t.End), clock(other.Start), clock(other.End), other.Source))
			}
		}
		wanted += t.size(length)
	}
	if wanted <= 0 || taken+wanted <= length*amount.PerUnit {
		return nil
	}
	return fault.Invalid(CodeDayFull, fmt.Sprintf("%s has %s, of which %s are taken%s. It has no room for %s.",
		day, hours(length*amount.PerUnit), hours(taken), describe(length, standing), hours(wanted)))
}

// describe lists the leave of a day, the largest amounts first.
func describe(length int64, standing []Deduction) string {
	const most = 5
	list := slices.SortedFunc(slices.Values(standing), func(a, b Deduction) int { return cmp.Compare(b.size(length), a.size(length)) })
	var parts []string
	for _, t := range list[:min(most, len(list))] {
		parts = append(parts, hours(t.size(length))+" by "+t.Source.String())
	}
	if len(list) > most {
		parts = append(parts, fmt.Sprintf("and %d more", len(list)-most))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// hours formats a result of size in hours with four decimals: a second is 0.0003.
func hours(size int64) string {
	h := math.Round(float64(size)/3600) / amount.PerUnit
	return strconv.FormatFloat(h, 'f', -1, 64) + " h"
}

func clock(second int32) string {
	return fmt.Sprintf("%02d:%02d", second/3600, second%3600/60)
}

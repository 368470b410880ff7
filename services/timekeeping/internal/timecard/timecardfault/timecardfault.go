// Package timecardfault holds the errors of timecards.
package timecardfault

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// Codes of the specified API.
const (
	// CodeReference (400): a reference to an employee names nobody, or nobody whom the
	// caller may see.
	CodeReference = "WTK-112000"
	// CodePunchTimes (400): the times of punches are more than an hour apart. Ask for
	// less.
	CodePunchTimes = "WTK-124919"
	// CodePunchPage (400): a page of punches has 1 to 25 employees.
	CodePunchPage = "WTK-124921"
)

const (
	// CodeNoRange (400): the days are missing, or end before they start.
	CodeNoRange = "WTK-145007"
	// CodeSelect (400): a word of select is not one of the words of the contract.
	CodeSelect = "WTK-145020"
	// CodeLimit (413): there are too many employees or days. Ask for less.
	CodeLimit = "WTK-145051"
	// CodePeriod (400): there is no such symbolic period. Name it by its id or its
	// symbolic id.
	CodePeriod = "WTK-147500"
	// CodeSigned (400): the timecard is signed off already.
	CodeSigned = "WTK-165000"
)

// Codes of ours.
const (
	// CodeMissing (400): something that is needed was not given.
	CodeMissing = "WRL-20701"
	// CodeInvalid (400): a value is not one that its property may have.
	CodeInvalid = "WRL-20702"
	// CodeNotOver (400): a day that is not over, or a shift that goes on, cannot be signed off.
	CodeNotOver = "WRL-20703"
	// CodeNotSigned (400): the timecard is not signed off on these days.
	CodeNotSigned = "WRL-20704"
	// CodeUnknown (400): the timecard has no such punch or pay code edit.
	CodeUnknown = "WRL-20705"
	// CodeNotApproved (400): nobody of this side approved one of the days.
	CodeNotApproved = "WRL-20706"
	// CodeOwn (400): the operation is for the timecards of others, or for one's own.
	CodeOwn = "WRL-20707"
	// CodeNotEmployed (400): the punch was made before the employee was hired, or after the
	// employment was terminated. Correct the punch, the hire date or the employment status.
	CodeNotEmployed = "WRL-20708"
	// CodeNotYet (400): the punch lies in the future. Correct its time, or the clock that
	// made it.
	CodeNotYet = "WRL-20709"
	// CodeUnknownJob (400): there is no job with this path or id on the day of the punch or pay
	// code edit. Create its location, or name another job.
	CodeUnknownJob = "WRL-20710"
)

// Missing returns the error of something that was not given.
func Missing(what string) *fault.Error { return fault.Invalid(CodeMissing, what+" is missing.") }

// Invalid returns the error of a value that its property may not have.
func Invalid(format string, args ...any) *fault.Error {
	return fault.Invalid(CodeInvalid, fmt.Sprintf(format, args...)+".")
}

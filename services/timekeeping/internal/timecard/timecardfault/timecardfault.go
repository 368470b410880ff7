// Package timecardfault holds the errors of timecards.
package timecardfault

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
)

// Codes of the specified API.
const (
	// CodeReference (400): the reference to an employee names no existing employee, or the caller
	// may not see them.
	CodeReference = "WTK-112000"
	// CodePunchTimes (400): the times of punches are more than an hour apart. Request a shorter
	// period.
	CodePunchTimes = "WTK-124919"
	// CodePunchPage (400): a page of punches must have 1 to 25 employees.
	CodePunchPage = "WTK-124921"
)

const (
	// CodeNoRange (400): the days are missing, or end before they start.
	CodeNoRange = "WTK-145007"
	// CodeSelect (400): a word in select is not listed in the contract.
	CodeSelect = "WTK-145020"
	// CodeLimit (413): the request covers too many employees or days. Request fewer.
	CodeLimit = "WTK-145051"
	// CodePeriod (400): the symbolic period does not exist. Name it by its id or its symbolic id.
	CodePeriod = "WTK-147500"
	// CodeSigned (400): the timecard is already signed off. Remove the sign-off first.
	CodeSigned = "WTK-165000"
)

// Our own codes.
const (
	// CodeMissing (400): a required property is missing.
	CodeMissing = "WRL-20701"
	// CodeInvalid (400): a property has a value that is not allowed.
	CodeInvalid = "WRL-20702"
	// CodeNotOver (400): a day that is not over, or a running shift, cannot be signed off. Wait until
	// the day is over.
	CodeNotOver = "WRL-20703"
	// CodeNotSigned (400): the timecard is not signed off on these days.
	CodeNotSigned = "WRL-20704"
	// CodeUnknown (400): the timecard does not have the punch or pay code edit.
	CodeUnknown = "WRL-20705"
	// CodeNotApproved (400): one of the days has no approval by this role.
	CodeNotApproved = "WRL-20706"
	// CodeOwn (400): the operation is only for timecards of other employees, or only for the
	// caller's own.
	CodeOwn = "WRL-20707"
	// CodeNotEmployed (400): the time of the punch is before the hire date or after the termination
	// of the employment. Correct the punch, the hire date or the employment status.
	CodeNotEmployed = "WRL-20708"
	// CodeNotYet (400): the punch is in the future. Correct its time, or the clock that recorded
	// it.
	CodeNotYet = "WRL-20709"
	// CodeUnknownJob (400): no job has this path or id on the day of the punch or pay code edit.
	// Create its location, or name another job.
	CodeUnknownJob = "WRL-20710"
)

// Missing returns the error for a missing property at a path of the request.
func Missing(path string) *fault.Error {
	return fault.Invalid(CodeMissing, path+" is missing.").WithMembers(path)
}

// Invalid returns the error for a property with a value that is not allowed.
func Invalid(format string, args ...any) *fault.Error {
	return fault.Invalid(CodeInvalid, fmt.Sprintf(format, args...)+".")
}

// InvalidAt returns the error for an invalid value at a path of the request. The text completes "<path> ...".
func InvalidAt(path, format string, args ...any) *fault.Error {
	return Invalid("%s %s", path, fmt.Sprintf(format, args...)).WithMembers(path)
}

// UnknownSelection returns the error for a word that is not one of the possible words of select.
func UnknownSelection(word string, possible []string) *fault.Error {
	return fault.Invalid(CodeSelect, "select must contain only "+strings.Join(possible, ", ")+"."+suggest.Hint(word, slices.Values(possible))).WithMembers("select")
}

// Package itemfault defines the errors of schedule entries.
package itemfault

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/precondition"
)

// Error codes of the specification.
const (
	// CodeEmployeeMissing (400): a pay code edit has no employee.
	CodeEmployeeMissing = "WFS-103407"
	// CodePayCodeEdit (400): a pay code edit is not valid.
	CodePayCodeEdit = "WFS-101309"
	// CodeUnknown (400, 404): the object is not in the database.
	CodeUnknown = "WFS-109101"
	// CodeMissing (400): a required value is missing.
	CodeMissing = "WFS-111201"
	// CodeOtherID (400): the id in the body differs from the id in the path.
	CodeOtherID = "WFS-111209"
)

// Error codes of our own.
const (
	// CodeLockedDay (400): the day is locked; its schedule no longer changes. Unlock the day first.
	CodeLockedDay = "WRL-30401"
	// CodeShiftLength (400): the shift is longer than the setting allows. Send a shorter shift.
	CodeShiftLength = "WRL-30402"
	// CodeTagDefinition (400): the schedule tag does not match its tag definition.
	CodeTagDefinition = "WRL-30403"
	// CodeWithoutTerm (400): an entry that a pattern generated would move to a day without
	// employment. Create another entry.
	CodeWithoutTerm = "WRL-30404"
)

// InvalidShift returns the error of an invalid shift or tag.
func InvalidShift(path, format string, args ...any) error {
	return fault.Invalid(fault.CodeInput, path+" "+fmt.Sprintf(format, args...)+".").WithMembers(strings.Split(path, ", ")...)
}

// InvalidEdit returns the error of an invalid pay code edit.
func InvalidEdit(path, format string, args ...any) error {
	return fault.Invalid(CodePayCodeEdit, path+" "+fmt.Sprintf(format, args...)+".")
}

// InBody is the status for an unknown id in the body of a request.
const InBody = http.StatusBadRequest

// NotFound returns the error of an unknown id.
func NotFound(status int, label string, id int64) error {
	return fault.Newf(CodeUnknown, status, "There is no %s with the id %d.", label, id)
}

// Stale returns the error of an outdated version.
func Stale(ctx context.Context, label string, id, current int64) error {
	return precondition.Stale(ctx,
		fmt.Sprintf("The %s %d has changed since you read it; its version is %d. Read it again.", label, id, current))
}

// CheckVersion returns an error if an entry does not have the expected version, which comes from
// If-Match or else from the request; nil means any version.
func CheckVersion(ctx context.Context, label string, id, current int64, expected *int64) error {
	if precondition.CheckGiven(ctx, label, current, expected) != nil {
		return Stale(ctx, label, id, current)
	}
	return nil
}

// LockedDay returns the error of changing a locked day.
func LockedDay(employeeID int64, day fmt.Stringer) error {
	return fault.Newf(CodeLockedDay, http.StatusBadRequest, "The day %s of employee %d is locked.", day, employeeID)
}

// WithoutTerm returns the error of an entry of a pattern that would not be shown on a day.
func WithoutTerm(label string, employeeID int64, day fmt.Stringer) error {
	return fault.Newf(CodeWithoutTerm, http.StatusBadRequest,
		"Employee %d is not employed on %s, and no pattern generates this %s now. Create another one.", employeeID, day, label)
}

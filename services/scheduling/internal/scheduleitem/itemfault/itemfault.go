// Package itemfault holds the errors of the entries of schedules.
package itemfault

import (
	"context"
	"fmt"
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/precondition"
)

// Codes of the specified API.
const (
	// CodeEmployeeMissing (400): a pay code edit names no employee.
	CodeEmployeeMissing = "WFS-103407"
	// CodePayCodeEdit (400): a pay code edit is not one that can be kept.
	CodePayCodeEdit = "WFS-101309"
	// CodeUnknown (400, 404): what was named is not in the database.
	CodeUnknown = "WFS-109101"
	// CodeMissing (400): something that is needed was not given.
	CodeMissing = "WFS-111201"
	// CodeOtherID (400): the id in the body is not the one in the path.
	CodeOtherID = "WFS-111209"
)

// Codes of our own.
const (
	// CodeLockedDay (400): the day is locked; its schedule no longer changes.
	CodeLockedDay = "WRL-30401"
	// CodeShiftLength (400): the shift is longer than the setting allows.
	CodeShiftLength = "WRL-30402"
	// CodeTagDefinition (400): the schedule tag is not one that its tag definition allows.
	CodeTagDefinition = "WRL-30403"
	// CodeWithoutTerm (400): an entry that a pattern generated would come to a day without employment.
	CodeWithoutTerm = "WRL-30404"
)

// InvalidShift returns the error of a shift or tag that cannot be kept.
func InvalidShift(path, format string, args ...any) error {
	return fault.Invalid(fault.CodeInput, path+" "+fmt.Sprintf(format, args...)+".")
}

// InvalidEdit returns the error of a pay code edit that cannot be kept.
func InvalidEdit(path, format string, args ...any) error {
	return fault.Invalid(CodePayCodeEdit, path+" "+fmt.Sprintf(format, args...)+".")
}

// InBody is the status for an unknown id that stands in a request's body.
const InBody = http.StatusBadRequest

// NotFound returns the error of an id that names nothing.
func NotFound(status int, what string, id int64) error {
	return fault.Newf(CodeUnknown, status, "There is no %s with the id %d.", what, id)
}

// Stale returns the error of a version that is no longer the newest.
func Stale(ctx context.Context, what string, id, current int64) error {
	return precondition.Stale(ctx,
		fmt.Sprintf("The %s %d was changed meanwhile; its version is %d. Read it again.", what, id, current))
}

// CheckVersion returns an error unless an entry has the version that the request means: by its
// If-Match, or else by the version in it, nil for none.
func CheckVersion(ctx context.Context, what string, id, current int64, given *int64) error {
	if precondition.CheckGiven(ctx, what, current, given) != nil {
		return Stale(ctx, what, id, current)
	}
	return nil
}

// LockedDay returns the error of a change of a day that is locked.
func LockedDay(employeeID int64, day fmt.Stringer) error {
	return fault.Newf(CodeLockedDay, http.StatusBadRequest, "The day %s of employee %d is locked.", day, employeeID)
}

// WithoutTerm returns the error of an entry of a pattern that would not be shown on a day.
func WithoutTerm(what string, employeeID int64, day fmt.Stringer) error {
	return fault.Newf(CodeWithoutTerm, http.StatusBadRequest,
		"Employee %d is not employed on %s, and no pattern generates this %s any more. Create another one.", employeeID, day, what)
}

// Package errcode defines the error codes and limits of information access.
package errcode

import (
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Codes of the specified API. The status is 400 unless noted.
const (
	// CodeNoDates: neither dates nor a symbolic period is given.
	CodeNoDates = "WCO-106001"
	// CodeDateOrder: the start is after the end.
	CodeDateOrder = "WCO-106003"
	// CodeBadRequest: something else is wrong with the request.
	CodeBadRequest = "WCO-106015"
	// CodeNoEmployee: there is no employee with the person number.
	CodeNoEmployee = "WCO-106017"
	// CodeNoPeriod: there is no such symbolic period.
	CodeNoPeriod = "WCO-106019"
	// CodeIncrement: there is no such time increment. Send one of the names in the message.
	CodeIncrement = "WCO-106029"
	// CodeNoLocation: there is no location with the path.
	CodeNoLocation = "WCO-106032"
	// CodeNoFrom: from is missing.
	CodeNoFrom = "WCO-106151"
	// CodeNoSet: neither employees nor a hyperfind is given, or no locations are given.
	CodeNoSet = "WCO-106153"
	// CodeNoView: the view is missing.
	CodeNoView = "WCO-106154"
	// CodeNoStructure: there is no location with the id.
	CodeNoStructure = "WCO-106162"
	// CodeUnreadable: a named employee cannot be read.
	CodeUnreadable = "WCO-106163"
	// CodePage: the page index is too high.
	CodePage = "WCO-106176"
	// CodeBadSet: the hyperfind or the saved locations cannot be used.
	CodeBadSet = "WCO-106178"
	// CodeProperty: a property of a column is missing or wrong.
	CodeProperty = "WCO-106179"
	// CodeHyperfind: the hyperfind is invalid.
	CodeHyperfind = "WCO-106204"
	// CodeWorkUnits: the view shows work units.
	CodeWorkUnits = "WCO-106214"
	// CodeDays: the dates of the range differ by more than 365 days. Split the range. For
	// hyperfinds, the same code has status 413.
	CodeDays = "WCO-112010"
	// CodeProvider (in a response with 200): elements of a provider could not be
	// read.
	CodeProvider = "WFM-COMMON-1234"
)

// CodeHyperfindMost is the code for hyperfinds that find too many employees.
const CodeHyperfindMost = "WCO-112013"

// The limits of one request.
var (
	// Days limits the difference between the dates of a range, in days.
	Days = policy.FindLimit[*platformv1.DataFrom]("days")
	// Employees limits the employees that a request may name or find.
	Employees = policy.FindLimit[*platformv1.DataFrom]("employees")
	// Locations limits the locations that a request may name or find.
	Locations = policy.FindLimit[*platformv1.DataFrom]("locations")
)

// Invalid returns an error with a code and status 400.
func Invalid(code, format string, args ...any) *fault.Error {
	return fault.Newf(code, http.StatusBadRequest, format, args...)
}

// Shorten truncates a text for an error message.
func Shorten(text string) string {
	const maxText = 100
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText])
	}
	return text
}

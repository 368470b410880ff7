// Package errcode has the errors of information access: their codes, and those of its
// limits.
package errcode

import (
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Codes of the specified API, with status 400 where nothing else is said.
const (
	// CodeNoDates: neither dates nor a symbolic period.
	CodeNoDates = "WCO-106001"
	// CodeDateOrder: the start is after the end.
	CodeDateOrder = "WCO-106003"
	// CodeBadRequest: something else is wrong with the request.
	CodeBadRequest = "WCO-106015"
	// CodeNoEmployee: a person number names nobody.
	CodeNoEmployee = "WCO-106017"
	// CodeNoPeriod: there is no such symbolic period.
	CodeNoPeriod = "WCO-106019"
	// CodeIncrement: there is no such time increment.
	CodeIncrement = "WCO-106029"
	// CodeNoLocation: a path names no location.
	CodeNoLocation = "WCO-106032"
	// CodeNoFrom: from is missing.
	CodeNoFrom = "WCO-106151"
	// CodeNoSet: neither employees nor a hyperfind, or no locations.
	CodeNoSet = "WCO-106153"
	// CodeNoView: the view is missing.
	CodeNoView = "WCO-106154"
	// CodeNoStructure: a location id names none.
	CodeNoStructure = "WCO-106162"
	// CodeUnreadable: a named employee cannot be read.
	CodeUnreadable = "WCO-106163"
	// CodePage: the page index is too high.
	CodePage = "WCO-106176"
	// CodeBadSet: the hyperfind or the saved locations cannot be used.
	CodeBadSet = "WCO-106178"
	// CodeProperty: a property of a column is missing or wrong.
	CodeProperty = "WCO-106179"
	// CodeHyperfind: the hyperfind is bad.
	CodeHyperfind = "WCO-106204"
	// CodeWorkUnits: the view is one of work units.
	CodeWorkUnits = "WCO-106214"
	// CodeDays: the dates of the range differ by more than 365 days. For hyperfinds, the same code has status 413.
	CodeDays = "WCO-112010"
	// CodeEmployees (413): more than 500 employees.
	CodeEmployees = "WCO-106194"
	// CodeLocations (413): more than 300 locations.
	CodeLocations = "WCO-106195"
	// CodeProvider (in a response with 200): elements of a provider could not be
	// read.
	CodeProvider = "WFM-COMMON-1234"
)

// CodeHyperfindMost is that of hyperfinds that find more than they may.
const CodeHyperfindMost = "WCO-112013"

// The limits of one request.
var (
	// MaxDays is how many days the end of the longest range lies after its start.
	MaxDays = policy.Max[*platformv1.DataFrom]("days")
	// MaxEmployees is how many employees may be named or found.
	MaxEmployees = policy.Max[*platformv1.DataFrom]("employees")
	// MaxLocations is how many locations may be named or found.
	MaxLocations = policy.Max[*platformv1.DataFrom]("locations")
)

// Invalid is an error with a code and the status 400.
func Invalid(code, format string, args ...any) *fault.Error {
	return fault.Newf(code, http.StatusBadRequest, format, args...)
}

// TooManyDays is the error of a range that is too long.
func TooManyDays(days int) *fault.Error {
	return Invalid(CodeDays, "Service limits are exceeded: days in the request: %d, allowed: %d. Split the range.", days, MaxDays).
		WithLimits(int64(days), int64(MaxDays))
}

// TooManyEmployees is the error of a request for too many employees.
func TooManyEmployees(n int) *fault.Error {
	return tooMany(CodeEmployees, "employees", n, MaxEmployees)
}

// TooManyLocations is the error of a request for too many locations.
func TooManyLocations(n int) *fault.Error {
	return tooMany(CodeLocations, "locations", n, MaxLocations)
}

func tooMany(code, what string, actual, limit int) *fault.Error {
	return fault.OverLimit(code, what+" in the request", actual, limit, fault.SplitRequest)
}

// Shortened keeps an error from repeating a long text.
func Shortened(text string) string {
	const maxText = 100
	if runes := []rune(text); len(runes) > maxText {
		return string(runes[:maxText])
	}
	return text
}

package timecard

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

// Codes of ours.
const (
	// CodeMissing (400): something that is needed was not given.
	CodeMissing = "WRL-20701"
	// CodeInvalid (400): a value is not one that its property may have.
	CodeInvalid = "WRL-20702"
)

func missing(what string) *fault.Error { return fault.Invalid(CodeMissing, what+" is missing.") }

func invalid(format string, args ...any) *fault.Error {
	return fault.Invalid(CodeInvalid, fmt.Sprintf(format, args...)+".")
}

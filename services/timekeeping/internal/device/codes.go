// Package device keeps time clocks and their groups, and serves the clocks themselves: they send
// punches, read their employees and report their state.
package device

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
)

// Error codes of devices and device groups.
const (
	// CodeInvalid (400): a value is missing or not allowed. Correct the property that the message
	// names.
	CodeInvalid = "WRL-21201"
	// CodeTaken (400): another device or device group has the name or the serial number. Choose
	// another one.
	CodeTaken = "WRL-21202"
	// CodeUnknown (400, 404): the device or the device group does not exist.
	CodeUnknown = "WRL-21203"
	// CodeInUse (400): the device or the device group to delete is in use. Remove what the message
	// names first.
	CodeInUse = "WRL-21204"
)

func codes() setup.Codes {
	return setup.Codes{
		Missing: CodeInvalid, Invalid: CodeInvalid, Taken: CodeTaken, Unknown: CodeUnknown, OtherID: CodeInvalid, InUse: CodeInUse,
	}
}

func invalid(format string, args ...any) *fault.Error {
	return fault.Invalid(CodeInvalid, fmt.Sprintf(format, args...)+".")
}

// Package timeofffault contains the errors that time off and request subtypes have in common.
package timeofffault

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Codes of the specified API.
const (
	// CodeMissing (400): a required property is missing.
	CodeMissing = "WFS-111201"
	// CodeInvalid (400): a property has a value that is not allowed.
	CodeInvalid = "WFS-100903"
	// CodeUnknown (400, 404): the object that the request names does not exist.
	CodeUnknown = "WFS-109101"
	// CodeOnlyOne (400): the request has more than one of several alternatives.
	CodeOnlyOne = "WFS-111207"
	// CodeOtherID (400): the id in the body differs from the id in the path.
	CodeOtherID = "WFS-111209"
)

// Codes returns the codes of request subtypes, which have unique names.
func Codes() setup.Codes {
	return setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeInvalid, Unknown: CodeUnknown, OtherID: CodeOtherID}
}

// Missing returns the error for a missing required property.
func Missing(path string) *fault.Error {
	return fault.Invalid(CodeMissing, path+" is missing.")
}

// Invalid returns the error for a property with a value that is not allowed. The text completes
// "<path> ...".
func Invalid(path, format string, args ...any) *fault.Error {
	return fault.Invalid(CodeInvalid, path+" "+fmt.Sprintf(format, args...)+".")
}

// Named reports whether a ref has an id or a qualifier.
func Named(ref *commonv1.Ref) bool {
	return ref != nil && (ref.Id != nil || ref.GetQualifier() != "")
}

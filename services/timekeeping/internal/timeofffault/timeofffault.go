// Package timeofffault holds the errors that time off and request subtypes have in common.
package timeofffault

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Codes of the specified API.
const (
	// CodeMissing (400): something that is needed was not given.
	CodeMissing = "WFS-111201"
	// CodeInvalid (400): a value is not one that its property may have.
	CodeInvalid = "WFS-100903"
	// CodeUnknown (400, 404): what was named is not in the database.
	CodeUnknown = "WFS-109101"
	// CodeOnlyOne (400): more than one of several alternatives was given.
	CodeOnlyOne = "WFS-111207"
	// CodeOtherID (400): the id in the body is not the one in the path.
	CodeOtherID = "WFS-111209"
)

// Codes are those of request subtypes, which are kept under names.
func Codes() setup.Codes {
	return setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeInvalid, Unknown: CodeUnknown, OtherID: CodeOtherID}
}

// Missing returns the error for a property that is needed and not there.
func Missing(path string) *fault.Error {
	return fault.Invalid(CodeMissing, path+" is missing.")
}

// Invalid returns the error for a property whose value cannot be taken; the text
// completes "<path> ...".
func Invalid(path, format string, args ...any) *fault.Error {
	return fault.Invalid(CodeInvalid, path+" "+fmt.Sprintf(format, args...)+".")
}

// Named reports whether a ref names something.
func Named(ref *commonv1.Ref) bool {
	return ref != nil && (ref.Id != nil || ref.GetQualifier() != "")
}

package patterndefinition

import (
	"fmt"
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Error codes of patterns, templates and assignments.
const (
	// CodeMissing (400): a required value is missing.
	CodeMissing = "WFS-111201"
	// CodeInvalid (400): a property has a value that is not allowed.
	CodeInvalid = "WFS-100903"
	// CodeUnknown (400, 404): the object is not in the database.
	CodeUnknown = "WFS-109101"
	// CodeNothing (400): the request needs at least one element.
	CodeNothing = "WFS-111208"
	// CodeOnlyOne (400): more than one of several alternatives was given.
	CodeOnlyOne = "WFS-111207"
	// CodeOtherID (400): the id in the body differs from the id in the path.
	CodeOtherID = "WFS-111209"
	// CodeInUse (400): a schedule pattern template refers to the shift template. Change or delete that first.
	CodeInUse = "WRL-30101"
)

// Codes returns the error codes of templates.
func Codes() setup.Codes {
	return setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeInvalid, Unknown: CodeUnknown, OtherID: CodeOtherID, InUse: CodeInUse}
}

// Missing returns the error for a missing property.
func Missing(path string) *fault.Error {
	return fault.Invalid(CodeMissing, path+" is missing.").WithMembers(path)
}

// Invalid returns the error for an invalid value of a property. The text completes "<path> ...".
func Invalid(path, format string, args ...any) *fault.Error {
	return fault.Invalid(CodeInvalid, path+" "+fmt.Sprintf(format, args...)+".").WithMembers(path)
}

// Unknown returns the error for an object in a request that does not exist: "The shift template
// "Early" (items[0].shiftTemplate) does not exist."
func Unknown(path, kind string, ref *commonv1.Ref) *fault.Error {
	return fault.New(CodeUnknown, http.StatusBadRequest,
		fmt.Sprintf("The %s %s (%s) does not exist.", kind, describe(ref), path)).WithMembers(path)
}

// NotFound returns the error for an unknown id in the path of a request.
func NotFound(kind string, id int64) *fault.Error {
	return fault.NotFound(CodeUnknown, fmt.Sprintf("There is no %s with the id %d.", kind, id))
}

// describe formats a reference for messages. It truncates names, because they come from the caller.
func describe(ref *commonv1.Ref) string {
	if ref.Id != nil {
		return fmt.Sprintf("with the id %d", ref.GetId())
	}
	return fmt.Sprintf("%.100q", ref.GetQualifier())
}

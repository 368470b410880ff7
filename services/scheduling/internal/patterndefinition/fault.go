package patterndefinition

import (
	"fmt"
	"net/http"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Codes for what is wrong with a pattern, a template or an assignment.
const (
	// CodeMissing (400): something that is needed was not given.
	CodeMissing = "WFS-111201"
	// CodeInvalid (400): a value is not one that its property may have.
	CodeInvalid = "WFS-100903"
	// CodeUnknown (400, 404): what was named is not in the database.
	CodeUnknown = "WFS-109101"
	// CodeNothing (400): nothing was asked for where something must be.
	CodeNothing = "WFS-111208"
	// CodeOnlyOne (400): more than one of several alternatives was given.
	CodeOnlyOne = "WFS-111207"
	// CodeOtherID (400): the id in the body is not the one in the path.
	CodeOtherID = "WFS-111209"
	// CodeInUse (400): a schedule pattern template refers to the shift template. Change or delete that first.
	CodeInUse = "WRL-30101"
)

// Codes are those of the templates that are kept under names.
func Codes() setup.Codes {
	return setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeInvalid, Unknown: CodeUnknown, OtherID: CodeOtherID, InUse: CodeInUse}
}

// Missing is the error for a property that is needed and not there.
func Missing(path string) *fault.Error {
	return fault.Invalid(CodeMissing, path+" is missing.")
}

// Invalid is the error for a property whose value cannot be taken; the text
// completes "<path> ...".
func Invalid(path, format string, args ...any) *fault.Error {
	return fault.Invalid(CodeInvalid, path+" "+fmt.Sprintf(format, args...)+".")
}

// Unknown is the error for something that is named in a request and does not
// exist: "The shift template "Early" (items[0].shiftTemplate) does not exist."
func Unknown(path, what string, ref *commonv1.Ref) *fault.Error {
	return fault.New(CodeUnknown, http.StatusBadRequest,
		fmt.Sprintf("The %s %s (%s) does not exist.", what, naming(ref), path))
}

// NotFound is the error for an id in the path of a request that names nothing.
func NotFound(what string, id int64) *fault.Error {
	return fault.NotFound(CodeUnknown, fmt.Sprintf("There is no %s with the id %d.", what, id))
}

// naming is how a message names what a ref points to. Names are bounded: they
// come from the caller.
func naming(ref *commonv1.Ref) string {
	if ref.Id != nil {
		return fmt.Sprintf("with the id %d", ref.GetId())
	}
	return fmt.Sprintf("%.100q", ref.GetQualifier())
}

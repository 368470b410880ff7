// Package structure contains the common parts of jobs, locations, location types and location
// sets: error codes, days and references.
package structure

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// Codes of the specified API for the business structure, with the status 400 unless stated
// otherwise.
const (
	// CodeIDGiven: a new object is sent with an id.
	CodeIDGiven = "WCO-103001"
	// CodeOtherID: the id in the body differs from the id in the path.
	CodeOtherID = "WCO-103005"
	// CodeMissing: a required value is missing.
	CodeMissing = "WCO-103006"
	// CodeOneCriterion: the request does not have exactly one criterion.
	CodeOneCriterion = "WCO-103007"
	// CodeNoRef: a reference is missing.
	CodeNoRef = "WCO-103015"
	// CodeNoDate: a date is missing.
	CodeNoDate = "WCO-103022"
	// CodeExpiry: the expiration date is not after the effective date.
	CodeExpiry = "WCO-103023"
	// CodeUnknownJob (400; 404 for one in a path): the job does not exist.
	CodeUnknownJob = "WCO-103108"
	// CodeJobNotOnDate: the job does not exist on the day.
	CodeJobNotOnDate = "WCO-103109"
	// CodeNoName: a reference has neither id nor qualifier.
	CodeNoName = "WCO-103110"
	// CodeJobNotInSpan: the job does not exist on any day of the span.
	CodeJobNotInSpan = "WCO-103121"
	// CodeNoList: a list of references is empty, or has several kinds of references.
	CodeNoList = "WCO-103198"
	// CodeRange: a span ends before it starts.
	CodeRange = "WCO-103199"
	// CodeTooMany (413): the request or response exceeds the maximum number of items.
	CodeTooMany = "WCO-103295"
)

// Codes for conditions without a code in the specified API. The status is 400 unless stated
// otherwise.
const (
	// CodeUnknown (400; 404 for one in a path): the location, type or set does not exist.
	CodeUnknown = "WRL-10201"
	// CodeNotOnDate: the location does not exist on the day.
	CodeNotOnDate = "WRL-10202"
	// CodeValue: a property has an invalid value.
	CodeValue = "WRL-10203"
	// CodeTaken: another object already has the name or the persistent id. Choose another
	// one.
	CodeTaken = "WRL-10204"
	// CodeInUse: the object cannot be deleted, because another object uses it. Remove the references
	// to it first.
	CodeInUse = "WRL-10205"
	// CodeCycle: a location would become its own descendant. Choose another parent.
	CodeCycle = "WRL-10206"
	// CodeDepth: a location would be too deep, or its path too long.
	CodeDepth = "WRL-10207"
	// CodeParentNotThen: the parent does not exist on every day of the location. Choose other dates,
	// or another parent.
	CodeParentNotThen = "WRL-10208"
)

// MaxName limits names, in characters.
const MaxName = 200

// Invalid returns the error for a property with an invalid value.
func Invalid(path, format string, args ...any) *fault.Error {
	return fault.Invalid(CodeValue, path+" "+fmt.Sprintf(format, args...)+".")
}

// Missing returns the error for a missing required value.
func Missing(path string) *fault.Error {
	return fault.Invalid(CodeMissing, path+" is missing.")
}

// CheckContext checks the required name of a structure. Both structures share one tree.
func CheckContext(path, text string) error {
	switch text {
	case "ORG", "FORECAST":
		return nil
	case "":
		return fault.Invalid(CodeMissing, path+" is missing. It must be ORG or FORECAST.")
	}
	return Invalid(path, "must be ORG or FORECAST")
}

// TooMany returns the error for a response with too many items.
func TooMany(what string, actual, limit int) *fault.Error {
	return fault.OverLimit(CodeTooMany, http.StatusRequestEntityTooLarge, what+" in the response", actual, limit, "Ask for fewer.")
}

// CheckName checks a name. path is its path in the request.
func CheckName(path, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return Missing(path)
	case strings.TrimSpace(name) != name:
		return Invalid(path, "must not begin or end with a space")
	case utf8.RuneCountInString(name) > MaxName:
		return Invalid(path, "must have at most %d characters", MaxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return Invalid(path, "must not have control characters")
	}
	return nil
}

// CheckID checks that the id in a body, if present, equals the id in the path.
func CheckID(inPath int64, inBody *int64) error {
	if inBody == nil || *inBody == inPath {
		return nil
	}
	return fault.New(CodeOtherID, http.StatusBadRequest,
		fmt.Sprintf("The id %d in the body is not the id %d in the path.", *inBody, inPath))
}

// NewPersistentID generates a persistent id.
func NewPersistentID() string { return strings.ToLower(rand.Text()) }

// Day parses a required date.
func Day(path, text string) (civil.Date, error) {
	if text == "" {
		return 0, fault.Invalid(CodeNoDate, path+" is missing.")
	}
	return date(path, text)
}

// DayOr parses an optional date.
func DayOr(path, text string, otherwise civil.Date) (civil.Date, error) {
	if text == "" {
		return otherwise, nil
	}
	return date(path, text)
}

func date(path, text string) (civil.Date, error) {
	day, err := civil.ParseDate(text)
	if err != nil {
		return 0, fault.Invalid(fault.CodeDate, path+": "+err.Error()+".")
	}
	return day.Clamp(), nil
}

// Days parses an effective date, by default the beginning of time, and an exclusive
// expiration date, by default forever.
func Days(effective, expiration string) (civil.Range, error) {
	from, err := DayOr("effectiveDate", effective, civil.Beginning)
	if err != nil {
		return civil.Range{}, err
	}
	to, err := DayOr("expirationDate", expiration, civil.Forever)
	if err != nil {
		return civil.Range{}, err
	}
	if to <= from {
		return civil.Range{}, fault.Invalid(CodeExpiry, "expirationDate must be after effectiveDate.")
	}
	return civil.Range{From: from, To: to}, nil
}

// Span parses a required first and last day, both included.
func Span(path, start, end string) (civil.Range, error) {
	first, err := Day(path+".startDate", start)
	if err != nil {
		return civil.Range{}, err
	}
	last, err := Day(path+".endDate", end)
	if err != nil {
		return civil.Range{}, err
	}
	if last < first {
		return civil.Range{}, fault.Invalid(CodeRange, path+".endDate is before startDate.")
	}
	return civil.Through(first, last), nil
}

// CheckRef checks that a reference has an id or a qualifier.
func CheckRef(path string, ref *commonv1.Ref) error {
	if ref == nil {
		return fault.Invalid(CodeNoRef, path+" is missing.")
	}
	if ref.Id == nil && ref.GetQualifier() == "" {
		return fault.Invalid(CodeNoName, path+" needs an id or a qualifier.")
	}
	return nil
}

// Refs returns the references of a list, which must use exactly one kind of them.
func Refs(path string, list *commonv1.RefList) ([]*commonv1.Ref, error) {
	refs, err := reflist.ExactlyOne(CodeNoList, path, list)
	if err != nil {
		return nil, err
	}
	for i, ref := range refs {
		if err := CheckRef(fmt.Sprintf("%s[%d]", path, i), ref); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// Text describes a reference in error messages.
func Text(ref *commonv1.Ref) string {
	if ref.Id != nil {
		return fmt.Sprintf("the id %d", ref.GetId())
	}
	return fmt.Sprintf("the qualifier %q", ref.GetQualifier())
}

// Package structure holds what jobs, locations, their types and their sets have
// in common: error codes, days and references.
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

// Codes of the specified API for the business structure, all with status 400
// where nothing else is said.
const (
	// CodeIDGiven: an id is sent with what is to be created.
	CodeIDGiven = "WCO-103001"
	// CodeOtherID: the id in the body is not that in the path.
	CodeOtherID = "WCO-103005"
	// CodeMissing: something that must be given is missing.
	CodeMissing = "WCO-103006"
	// CodeOneCriterion: there is not exactly one criterion.
	CodeOneCriterion = "WCO-103007"
	// CodeNoRef: a reference is missing.
	CodeNoRef = "WCO-103015"
	// CodeNoDate: a date is missing.
	CodeNoDate = "WCO-103022"
	// CodeExpiry: the expiration date is not after the effective date.
	CodeExpiry = "WCO-103023"
	// CodeUnknownJob (400; 404 for one in a path): there is no such job.
	CodeUnknownJob = "WCO-103108"
	// CodeJobNotOnDate: the job is not there on the day.
	CodeJobNotOnDate = "WCO-103109"
	// CodeNoName: a reference has neither id nor qualifier.
	CodeNoName = "WCO-103110"
	// CodeJobNotInSpan: the job is not there on any day of the span.
	CodeJobNotInSpan = "WCO-103121"
	// CodeNoList: a list of references holds none, or several kinds of them.
	CodeNoList = "WCO-103198"
	// CodeRange: a span ends before it starts.
	CodeRange = "WCO-103199"
	// CodeTooMany (413): more items than one request or response may hold.
	CodeTooMany = "WCO-103295"
)

// Codes of ours, for conditions for which the specified API has none. The
// status is 400 where nothing else is said.
const (
	// CodeUnknown (400; 404 for one in a path): there is no such location, type
	// or set.
	CodeUnknown = "WRL-10201"
	// CodeNotOnDate: the location is not there on the day.
	CodeNotOnDate = "WRL-10202"
	// CodeValue: a property has a value that it cannot have.
	CodeValue = "WRL-10203"
	// CodeTaken: another one has the name, or the id of another system.
	CodeTaken = "WRL-10204"
	// CodeInUse: it cannot be deleted, because something needs it.
	CodeInUse = "WRL-10205"
	// CodeCycle: a location would come to lie below itself.
	CodeCycle = "WRL-10206"
	// CodeDepth: a location would lie too deep, or its path be too long.
	CodeDepth = "WRL-10207"
	// CodeParentNotThen: the parent is not there on every day on which the
	// location is.
	CodeParentNotThen = "WRL-10208"
)

// MaxName bounds names, in characters.
const MaxName = 200

// Invalid is the error for a property with a value that it cannot have.
func Invalid(path, format string, args ...any) *fault.Error {
	return fault.Invalid(CodeValue, path+" "+fmt.Sprintf(format, args...)+".")
}

// Missing is the error for something that must be given.
func Missing(path string) *fault.Error {
	return fault.Invalid(CodeMissing, path+" is missing.")
}

// TooMany is the error for a response of more items than one may hold.
func TooMany(what string, actual, limit int) *fault.Error {
	return fault.OverLimit(CodeTooMany, what+" in the response", actual, limit, "Ask for fewer.")
}

// CheckName checks the name of a thing whose path in the request is given.
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

// CheckID checks that the id in a body, if there is one, is the one in the path.
func CheckID(inPath int64, inBody *int64) error {
	if inBody == nil || *inBody == inPath {
		return nil
	}
	return fault.New(CodeOtherID, http.StatusBadRequest,
		fmt.Sprintf("The id %d in the body is not the id %d in the path.", *inBody, inPath))
}

// NewPersistentID makes up a persistent id.
func NewPersistentID() string { return strings.ToLower(rand.Text()) }

// Day reads a date that must be given.
func Day(path, text string) (civil.Date, error) {
	if text == "" {
		return 0, fault.Invalid(CodeNoDate, path+" is missing.")
	}
	return date(path, text)
}

// DayOr reads a date that may be left out.
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

// Days reads an effective date, from the beginning without one, and an
// expiration date, which is not included; forever without one.
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

// Span reads a first and a last day, both included and both needed.
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

// CheckRef checks that a reference names something.
func CheckRef(path string, ref *commonv1.Ref) error {
	if ref == nil {
		return fault.Invalid(CodeNoRef, path+" is missing.")
	}
	if ref.Id == nil && ref.GetQualifier() == "" {
		return fault.Invalid(CodeNoName, path+" needs an id or a qualifier.")
	}
	return nil
}

// Refs are the references of a list of which exactly one kind is used.
func Refs(path string, list *commonv1.RefList) ([]*commonv1.Ref, error) {
	if reflist.CountKinds(list) != 1 {
		return nil, fault.Invalid(CodeNoList, path+" needs exactly one of ids, qualifiers and refs.")
	}
	refs := reflist.Refs(list)
	for i, ref := range refs {
		if err := CheckRef(fmt.Sprintf("%s[%d]", path, i), ref); err != nil {
			return nil, err
		}
	}
	return refs, nil
}

// Text is how messages show a reference.
func Text(ref *commonv1.Ref) string {
	if ref.Id != nil {
		return fmt.Sprintf("the id %d", ref.GetId())
	}
	return fmt.Sprintf("the qualifier %q", ref.GetQualifier())
}

// Package named keeps what planners name and edit: shift templates and pattern
// templates. A name is unique in its tenant, compared without case.
package named

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/definition"
)

// longestName bounds names, in characters.
const longestName = 250

// Thing is a message that is kept under a name.
type Thing interface {
	proto.Message
	GetId() int64
	GetName() string
}

// Kind says which things are kept where.
type Kind[T Thing] struct {
	// What is how messages call one: "shift template".
	What string
	// Table has the columns tenant_id, id, name, version and body, and a unique
	// index Table_name on the name without case.
	Table string
	// New makes an empty one.
	New func() T
	// Strip takes out of a copy what columns hold, or nobody keeps.
	Strip func(T)
	// Fill puts in what columns hold. The version counts from 1.
	Fill func(thing T, id, version int64)
}

// CheckName checks the name of a thing whose path in the request is given.
func CheckName(path, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return definition.Missing(path + ".name")
	case utf8.RuneCountInString(name) > longestName:
		return definition.Invalid(path+".name", "must have at most %d characters", longestName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return definition.Invalid(path+".name", "must not have control characters")
	}
	return nil
}

// CheckID checks that the id in a body, if there is one, is the one in the path.
func CheckID(inPath int64, inBody *int64) error {
	if inBody == nil || *inBody == inPath {
		return nil
	}
	return fault.New(definition.CodeOtherID, http.StatusBadRequest,
		fmt.Sprintf("The id %d in the body is not the id %d in the path.", *inBody, inPath))
}

// Version reads the version that a caller says to have read. Without one, it is
// nil, and whatever is stored is replaced.
func Version(path, text string) (*int64, error) {
	if text == "" {
		return nil, nil
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, definition.Invalid(path+".version", "must be a number")
	}
	return &version, nil
}

// taken is the error for a name that another thing has.
func (k *Kind[T]) taken(name string) error {
	return fault.Invalid(definition.CodeInvalid, fmt.Sprintf("There is a %s with the name %q already.", k.What, name))
}

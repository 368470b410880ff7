package setup

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/precondition"
)

// maxName is the maximum length of names, in characters.
const maxName = 250

// Codes are the error codes of a kind.
type Codes struct {
	// Missing (400): a required value is missing.
	Missing string
	// Invalid (400): a property has a value that is not allowed.
	Invalid string
	// TooLong (400): a name has too many characters. The default is Invalid.
	TooLong string
	// Taken (400): another resource has the name, the qualifier or a unique text.
	Taken string
	// TakenConflicts gives Taken the status 409.
	TakenConflicts bool
	// Unknown (400, 404): no resource has the id or the name.
	Unknown string
	// OtherID (400): the id in the body differs from the id in the path.
	OtherID string
	// InUse (400): other resources refer to the resource to delete. The default is Invalid.
	InUse string
}

// CheckName checks the name of a resource. The path is its position in the request.
func (c Codes) CheckName(path, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fault.Invalid(c.Missing, path+".name is missing.").WithMembers(path + ".name")
	case utf8.RuneCountInString(name) > maxName:
		return fault.Invalid(cmp.Or(c.TooLong, c.Invalid), fmt.Sprintf("%s.name must have at most %d characters.", path, maxName)).WithMembers(path + ".name")
	case strings.ContainsFunc(name, unicode.IsControl):
		return fault.Invalid(c.Invalid, path+".name must not have control characters.").WithMembers(path + ".name")
	}
	return nil
}

// CheckID returns an error if the id in the body differs from the id in the path. A body may omit
// the id.
func (c Codes) CheckID(inPath int64, inBody *int64) error {
	if inBody == nil || *inBody == inPath {
		return nil
	}
	return fault.Invalid(c.OtherID,
		fmt.Sprintf("The id %d in the body is not the id %d in the path.", *inBody, inPath))
}

// ParseVersion parses the version that a caller has read. It returns nil for an empty text, which
// means that the caller replaces any version.
func (c Codes) ParseVersion(path, text string) (*int64, error) {
	if text == "" {
		return nil, nil
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fault.Invalid(c.Invalid, path+".version must be a number.")
	}
	return &version, nil
}

// nameTakenError returns the error for a name that another resource has.
func (k *Kind[T]) nameTakenError(name string) error {
	return k.takenError(fmt.Sprintf("Another %s has the name %q.", k.What, name), k.name)
}

// takenError returns the error for a text of a property that another resource has.
func (k *Kind[T]) takenError(message string, property protoreflect.FieldDescriptor) error {
	if k.TakenConflicts {
		return fault.Conflict(k.Taken, message).WithMembers(property.JSONName())
	}
	return fault.Invalid(k.Taken, message).WithMembers(property.JSONName())
}

// full returns the error for a resource above the limit of a tenant.
func (k *Kind[T]) full() error {
	return fault.Conflict(fault.CodeFull, fmt.Sprintf("There are %d %ss, which is the limit. Delete unused ones first.", MaxListed, k.What))
}

// stale returns the error for a resource that has changed since the caller read it.
func (k *Kind[T]) stale(ctx context.Context, id int64) error {
	return precondition.Stale(ctx,
		fmt.Sprintf("The %s %d was changed since it was read. Read it again.", k.What, id))
}

// notFound returns the error for an unknown id in the path of a request.
func (k *Kind[T]) notFound(id int64) error {
	return fault.NotFound(k.Unknown, fmt.Sprintf("There is no %s with the id %d.", k.What, id))
}

// unknownRefError returns the error for a reference to an unknown resource, at a path of the request. It
// shortens names, because they come from the caller.
func (k *Kind[T]) unknownRefError(path string, id *int64, name string) error {
	text := fmt.Sprintf("%.100q", name)
	if id != nil {
		text = fmt.Sprintf("with the id %d", *id)
	}
	return fault.Invalid(k.Unknown, fmt.Sprintf("The %s %s (%s) does not exist.", k.What, text, path))
}

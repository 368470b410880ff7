// Package namedstore keeps what people name and edit, as a shift template or a pay
// code. A name is unique in its tenant, compared without case.
package namedstore

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// maxName bounds names, in characters.
const maxName = 250

// FirstVersion is the version of a new resource.
const FirstVersion = 1

// Named is a message that is stored under a name.
type Named interface {
	proto.Message
	GetId() int64
	GetName() string
}

// Codes are the error codes that a domain has for what can be wrong.
type Codes struct {
	// Missing (400): something that is needed was not given.
	Missing string
	// Invalid (400): a value is not one that its property may have.
	Invalid string
	// TooLong (400): a name has too many characters; "" means Invalid.
	TooLong string
	// Taken (400): another resource has the name.
	Taken string
	// TakenConflicts says that Taken has status 409.
	TakenConflicts bool
	// Unknown (400, 404): what was named is not in the database.
	Unknown string
	// OtherID (400): the id in the body is not the one in the path.
	OtherID string
}

// Kind says which resources are kept where.
type Kind[T Named] struct {
	Codes
	// What is how messages call one: "shift template".
	What string
	// Table has the columns tenant_id, id, name, version and body, and a unique
	// index Table_name on the name without case.
	Table string
	// Strip takes out of a copy what is not kept, beside the id and the version, which are
	// columns. It may be nil.
	Strip func(T)
	// Fill completes a resource that was read, beside its fields id and version. The version
	// counts from 1. It may be nil.
	Fill func(resource T, version int64)
}

// CheckName checks the name of a resource whose path in the request is given.
func (c Codes) CheckName(path, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fault.Invalid(c.Missing, path+".name is missing.")
	case utf8.RuneCountInString(name) > maxName:
		return fault.Invalid(cmp.Or(c.TooLong, c.Invalid), fmt.Sprintf("%s.name must have at most %d characters.", path, maxName))
	case strings.ContainsFunc(name, unicode.IsControl):
		return fault.Invalid(c.Invalid, path+".name must not have control characters.")
	}
	return nil
}

// CheckID checks that the id in a body, if there is one, is the one in the path.
func (c Codes) CheckID(inPath int64, inBody *int64) error {
	if inBody == nil || *inBody == inPath {
		return nil
	}
	return fault.Invalid(c.OtherID,
		fmt.Sprintf("The id %d in the body is not the id %d in the path.", *inBody, inPath))
}

// Version reads the version that a caller says to have read. Without one, it is
// nil, and whatever is stored is replaced.
func (c Codes) Version(path, text string) (*int64, error) {
	if text == "" {
		return nil, nil
	}
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fault.Invalid(c.Invalid, path+".version must be a number.")
	}
	return &version, nil
}

// taken is the error for a name that another resource has.
func (k *Kind[T]) taken(name string) error {
	message := fmt.Sprintf("There is a %s with the name %q already.", k.What, name)
	if k.TakenConflicts {
		return fault.Conflict(k.Taken, message)
	}
	return fault.Invalid(k.Taken, message)
}

// full is the error for a resource more than a tenant may have.
func (k *Kind[T]) full() error {
	return fault.Conflict(fault.CodeFull, fmt.Sprintf("There may be at most %d %ss, and this would be one more. Delete those that nobody needs.", MaxListed, k.What))
}

// stale is the error for a version that a resource has no more.
func (k *Kind[T]) stale(ctx context.Context, id int64) error {
	return precondition.Stale(ctx,
		fmt.Sprintf("The %s %d was changed since it was read. Read it again.", k.What, id))
}

// notFound is the error for an id in the path of a request that names nothing.
func (k *Kind[T]) notFound(id int64) error {
	return fault.NotFound(k.Unknown, fmt.Sprintf("There is no %s with the id %d.", k.What, id))
}

// unknown is the error for a ref, at a path of the request, that names nothing.
// Names are bounded: they come from the caller.
func (k *Kind[T]) unknown(path string, ref *commonv1.Ref) error {
	name := fmt.Sprintf("%.100q", ref.GetQualifier())
	if ref.Id != nil {
		name = fmt.Sprintf("with the id %d", ref.GetId())
	}
	return fault.Invalid(k.Unknown, fmt.Sprintf("The %s %s (%s) does not exist.", k.What, name, path))
}

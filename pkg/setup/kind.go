// Package setup serves setup resources: the named objects that administrators edit, such as
// shift templates and pay codes.
//
// A service declares a [Kind] with its message, references and unique texts, and a [Resource]
// with its rules. The rest follows from the declaration: storage, versions, bulk operations, unique
// names, the lock and the current name of a referenced resource, and the error for a deletion of a
// resource that is in use.
package setup

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup/migrations"
)

// MaxListed is the maximum number of resources of a kind that a tenant may have. It also limits the
// length of a list of all of them.
const MaxListed = 10_000

// firstVersion is the version of a new resource.
const firstVersion = 1

// Migrations returns the tables of references and unique texts. Each service that declares
// kinds has them in its database.
func Migrations() pg.Migrations {
	return pg.Migrations{Table: "setup_version", FS: migrations.FS}
}

// Message is the message of a resource. Its name is unique in the tenant, without regard to case.
// Its id is an int64, or a text that holds a GUID.
type Message interface {
	proto.Message
	GetName() string
}

// NumberedMessage is a Message with an int64 id.
type NumberedMessage interface {
	Message
	GetId() int64
}

// Declaration describes a kind of resources.
type Declaration[T Message] struct {
	Codes
	// What names a resource in messages, such as "shift template".
	What string
	// Path names a resource in the paths of error messages. The default is What in camel
	// case, such as "shiftTemplate".
	Path string
	// Table has the columns tenant_id, id, name, version and body, and a unique
	// index Table_name on the lower-case name. A kind with GUIDs also has the columns guid,
	// created_at and updated_at, and a unique index on the tenant and the guid.
	Table string
	// Strip removes computed properties from a copy before it is stored. The id, the
	// version and a qualifier that repeats the name are removed without it. It may be nil.
	Strip func(T)
	// Fill sets computed properties of a resource that was read. The version counts from 1.
	// It may be nil.
	Fill func(resource T, version int64)
	// References are the properties that refer to other resources.
	References []Reference
	// Unique are text properties, by their names in the contract, that no two resources of a
	// tenant share, such as "persistent_id". An empty text is not compared.
	Unique []string
}

// Kind is a declared kind of resources. It has no state; all methods take the tenant from the
// context.
type Kind[T Message] struct {
	Declaration[T]
	sql statements
	// version is an int64 or a decimal text, or nil. qualifier is nil where the
	// message has no property of this name.
	id, name, version, qualifier protoreflect.FieldDescriptor
	// guids tells that the ids of messages are GUIDs. createdAt and updatedAt are nil without them.
	guids                bool
	createdAt, updatedAt protoreflect.FieldDescriptor
	references           []reference
	unique               []protoreflect.FieldDescriptor
}

// NewKind returns the kind of a declaration. It panics if the declaration names a property
// that the message lacks.
func NewKind[T Message](d Declaration[T]) *Kind[T] {
	if d.Path == "" {
		d.Path = camelCase(d.What)
	}
	var zero T
	message := zero.ProtoReflect().Descriptor()
	fields := message.Fields()
	k := &Kind[T]{Declaration: d, id: fields.ByName("id"), name: fields.ByName("name")}
	if k.guids = k.id.Kind() == protoreflect.StringKind; k.guids {
		k.createdAt, k.updatedAt = fields.ByName("created_at"), fields.ByName("updated_at")
	}
	k.sql = newStatements(d.Table, k.guids)
	if f := fields.ByName("version"); f != nil && (f.Kind() == protoreflect.Int64Kind || f.Kind() == protoreflect.StringKind) {
		k.version = f
	}
	if f := fields.ByName("qualifier"); f != nil && f.Kind() == protoreflect.StringKind {
		k.qualifier = f
	}
	for _, r := range d.References {
		k.references = append(k.references, newReference(message, r))
	}
	for _, property := range d.Unique {
		f := fields.ByName(protoreflect.Name(property))
		if f == nil || f.Kind() != protoreflect.StringKind {
			panic("setup: " + string(message.FullName()) + " has no text " + property)
		}
		k.unique = append(k.unique, f)
	}
	return k
}

func camelCase(words string) string {
	var out strings.Builder
	for i, word := range strings.Fields(words) {
		if i > 0 {
			word = strings.ToUpper(word[:1]) + word[1:]
		}
		out.WriteString(word)
	}
	return out.String()
}

// newMessage returns an empty message of the kind.
func (k *Kind[T]) newMessage() T {
	var zero T
	return zero.ProtoReflect().New().Interface().(T)
}

// strip removes the properties that have columns of their own or are computed.
func (k *Kind[T]) strip(resource T) {
	m := resource.ProtoReflect()
	for _, f := range []protoreflect.FieldDescriptor{k.id, k.version, k.qualifier, k.createdAt, k.updatedAt} {
		if f != nil {
			m.Clear(f)
		}
	}
	if k.Strip != nil {
		k.Strip(resource)
	}
}

// fill is the reverse of strip.
func (k *Kind[T]) fill(resource T, stored identity) {
	m := resource.ProtoReflect()
	if k.guids {
		k.fillGUID(m, stored)
	} else {
		m.Set(k.id, protoreflect.ValueOfInt64(stored.id))
	}
	switch version := stored.version; {
	case k.version == nil:
	case k.version.Kind() == protoreflect.StringKind:
		m.Set(k.version, protoreflect.ValueOfString(strconv.FormatInt(version, 10)))
	default:
		m.Set(k.version, protoreflect.ValueOfInt64(version))
	}
	if k.qualifier != nil {
		m.Set(k.qualifier, protoreflect.ValueOfString(resource.GetName()))
	}
	if k.Fill != nil {
		k.Fill(resource, stored.version)
	}
}

// fillResource returns a stored resource in the form of responses.
func (k *Kind[T]) fillResource(resource T, stored identity) T {
	out := proto.CloneOf(resource)
	k.strip(out)
	k.fill(out, stored)
	return out
}

// sentVersion returns the version that the sender of a resource has read, or nil.
func (k *Kind[T]) sentVersion(path string, resource T) (*int64, error) {
	m := resource.ProtoReflect()
	switch {
	case k.version == nil || !m.IsValid():
		return nil, nil
	case k.version.Kind() == protoreflect.StringKind:
		return k.ParseVersion(path, m.Get(k.version).String())
	}
	if v := m.Get(k.version).Int(); v != 0 {
		return &v, nil
	}
	return nil, nil
}

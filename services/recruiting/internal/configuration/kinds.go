// Package configuration keeps the lists that the objects of recruiting refer to, such as applicant
// sources.
package configuration

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
)

const (
	// CodeMissing (400): a required property is missing. Send it.
	CodeMissing = "WRL-50101"
	// CodeInvalid (400): a property has a value that is not allowed. Correct it.
	CodeInvalid = "WRL-50102"
	// CodeTaken (409): another object of the kind has the name. Choose another name.
	CodeTaken = "WRL-50103"
	// CodeUnknown (400; 404 for one in a path): no object of the kind has the id or the name. List the objects of the kind.
	CodeUnknown = "WRL-50104"
	// CodeOtherID (400): the id in the body differs from the id in the path. Leave it out of the body.
	CodeOtherID = "WRL-50105"
)

// item is an object of the kinds that have a name alone.
type item = recruitingv1.ConfigurationItem

// object is the message of a kind. All have the properties is_active and links.
type object interface {
	setup.Message
	GetId() string
	GetIsActive() bool
}

// newResource returns the operations of a kind that is stored in a table. The segment is the last
// part of its path.
func newResource[T object](pool *pg.Pool, what, table, segment string) setup.Resource[T] {
	return setup.Resource[T]{
		Pool: pool,
		Kind: setup.NewKind(setup.Declaration[T]{
			Codes: setup.Codes{Missing: CodeMissing, Invalid: CodeInvalid, Taken: CodeTaken, TakenConflicts: true, Unknown: CodeUnknown, OtherID: CodeOtherID},
			What:  what, Table: table,
			Strip: func(o T) { o.ProtoReflect().Clear(property(o, "links")) },
			Fill: func(o T, _ int64) {
				self := &recruitingv1.Link{Href: "/v1/recruiting/" + segment + "/" + o.GetId(), Rel: "self"}
				o.ProtoReflect().Mutable(property(o, "links")).List().Append(protoreflect.ValueOfMessage(self.ProtoReflect()))
			},
		}),
		Prepare: func(_ string, o T) (T, error) {
			if active := property(o, "is_active"); !o.ProtoReflect().Has(active) {
				o.ProtoReflect().Set(active, protoreflect.ValueOfBool(true))
			}
			return o, nil
		},
	}
}

func property(o object, name protoreflect.Name) protoreflect.FieldDescriptor {
	return o.ProtoReflect().Descriptor().Fields().ByName(name)
}

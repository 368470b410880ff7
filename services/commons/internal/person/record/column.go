package record

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/civil"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// SQL types of columns, by the types of their fields in the API.
const (
	kindText  = "text"
	kindDate  = "date"
	kindFloat = "double precision"
	kindBool  = "bool"
	kindBytes = "bytea"
)

// Column is a column of a table that holds a field of a message. Its type follows
// from the field's descriptor.
type Column struct {
	// Name is the name of the column, and Kind its SQL type.
	Name, Kind string
	// Path is the path of the field in requests: JSON names, separated by dots.
	Path string
	// fields is the path from the message to the field.
	fields []protoreflect.FieldDescriptor
}

// newColumn returns the column for the field of a message, given as a path of proto names. A
// path that does not exist is a programming error.
func newColumn(message protoreflect.MessageDescriptor, name, path string) Column {
	c := Column{Name: name, fields: fieldsAt(message, path)}
	c.Path = jsonPath(c.fields)
	c.Kind = fieldKind(c.fields[len(c.fields)-1])
	return c
}

func fieldsAt(message protoreflect.MessageDescriptor, path string) (fields []protoreflect.FieldDescriptor) {
	for name := range strings.SplitSeq(path, ".") {
		field := message.Fields().ByName(protoreflect.Name(name))
		if field == nil {
			panic(fmt.Sprintf("record: %s has no field %s", message.FullName(), name))
		}
		fields, message = append(fields, field), field.Message()
	}
	return fields
}

func jsonPath(fields []protoreflect.FieldDescriptor) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.JSONName()
	}
	return strings.Join(names, ".")
}

func fieldKind(field protoreflect.FieldDescriptor) string {
	switch field.Kind() {
	case protoreflect.StringKind:
		options, _ := proto.GetExtension(field.Options(), optionsv1.E_Field).(*optionsv1.Field)
		if options.GetFormat() == optionsv1.Format_FORMAT_DATE {
			return kindDate
		}
		return kindText
	case protoreflect.DoubleKind:
		return kindFloat
	case protoreflect.BoolKind:
		return kindBool
	case protoreflect.MessageKind:
		return kindBytes
	}
	panic(fmt.Sprintf("record: no column holds a %s such as %s", field.Kind(), field.FullName()))
}

// IsText reports whether the column holds a text other than a date.
func (c Column) IsText() bool { return c.Kind == kindText }

// parent returns the message that contains the field, or nil if it is missing.
func (c Column) parent(m protoreflect.Message) (protoreflect.Message, protoreflect.FieldDescriptor) {
	last := len(c.fields) - 1
	for _, field := range c.fields[:last] {
		if !m.Has(field) {
			return nil, nil
		}
		m = m.Get(field).Message()
	}
	return m, c.fields[last]
}

// Text returns the value of a text or a date, or "" if it is missing.
func (c Column) Text(m protoreflect.Message) string {
	parent, field := c.parent(m)
	if parent == nil || field.Kind() != protoreflect.StringKind {
		return ""
	}
	return parent.Get(field).String()
}

// Clear removes the field from a message.
func (c Column) Clear(m protoreflect.Message) {
	if parent, field := c.parent(m); parent != nil {
		parent.Clear(field)
	}
}

// Value returns the field as a database value. nil stands for NULL, which every type except
// text can have.
func (c Column) Value(m protoreflect.Message) (any, error) {
	parent, field := c.parent(m)
	switch {
	case c.Kind == kindText:
		return c.Text(m), nil
	case parent == nil || !parent.Has(field):
		return nil, nil
	case c.Kind == kindDate:
		return parseCheckedDate(c.Text(m)), nil
	case c.Kind == kindBytes:
		return proto.MarshalOptions{Deterministic: true}.Marshal(parent.Get(field).Message().Interface())
	}
	return parent.Get(field).Interface(), nil
}

// SetValue sets the field of a message to a value from the database. NULL and "" change
// nothing.
func (c Column) SetValue(m protoreflect.Message, value any) error {
	if value == nil || value == "" {
		return nil
	}
	last := len(c.fields) - 1
	for _, field := range c.fields[:last] {
		m = m.Mutable(field).Message()
	}
	field := c.fields[last]
	switch v := value.(type) {
	case civil.Date:
		m.Set(field, protoreflect.ValueOfString(v.String()))
	case time.Time: // A date scans into this type if its column has no type here.
		m.Set(field, protoreflect.ValueOfString(civil.FromTime(v).String()))
	case []byte:
		return proto.Unmarshal(v, m.Mutable(field).Message().Interface())
	case string, float64, bool:
		m.Set(field, protoreflect.ValueOf(v))
	default:
		return fmt.Errorf("column %s holds a %T", c.Name, value)
	}
	return nil
}

// fingerprint returns a text that is the same for equal values of the column.
func (c Column) fingerprint(m protoreflect.Message) string {
	if c.Kind == kindText || c.Kind == kindDate {
		return strconv.Quote(c.Text(m))
	}
	value, _ := c.Value(m)
	switch v := value.(type) {
	case []byte:
		return hex.EncodeToString(v)
	case nil:
		return ""
	}
	return fmt.Sprint(value)
}

// parseCheckedDate parses a date that the rules have checked.
func parseCheckedDate(text string) civil.Date {
	day, err := civil.ParseDate(text)
	if err != nil {
		return civil.Beginning
	}
	return day
}

package openapi

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Patterns of text formats that JSON Schema does not have: local date-times and times without a
// zone, and the keys of localized texts.
const (
	localDateTime = `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$`
	locale        = `^[a-z]{2,3}(_[a-z0-9]{2,4})?$`
	localTime     = `^\d{2}:\d{2}(:\d{2}(\.\d+)?)?$`
)

// schemas holds the schemas of messages, each built once and referenced by name.
type schemas struct {
	named *Map[*Schema]
}

// message returns a reference to the schema of a message.
func (s *schemas) message(m *protogen.Message) *Schema {
	switch m.Desc.FullName() {
	case "google.protobuf.Struct":
		return &Schema{Type: "object", AdditionalProperties: true}
	case "google.protobuf.Value":
		return &Schema{Description: "Any JSON value."}
	case "google.protobuf.ListValue":
		return &Schema{Type: "array", Items: &Schema{}}
	case "google.protobuf.Any":
		return &Schema{Description: "The object itself."}
	case "google.protobuf.Empty":
		return &Schema{Type: "object", AdditionalProperties: false}
	}
	name := schemaName(m.Desc)
	if !s.named.Has(name) {
		// Set a placeholder first, because messages may contain themselves.
		s.named.Set(name, nil)
		s.named.Set(name, s.make(m))
	}
	return &Schema{Ref: "#/components/schemas/" + name}
}

// schemaName returns the name of a message with its domain: "scheduling.Shift".
func schemaName(desc protoreflect.MessageDescriptor) string {
	name := strings.TrimPrefix(string(desc.FullName()), "rotaloom.")
	return strings.Replace(name, ".v1.", ".", 1)
}

func (s *schemas) make(m *protogen.Message) *Schema {
	options := messageOptions(m.Desc)
	if field := findField(m, options.GetBareArray()); field != nil {
		list := s.fieldSchema(field)
		if text := comment(m.Comments); text != "" {
			list.Description = text
		}
		return list
	}
	object := &Schema{
		Type:                 "object",
		Description:          comment(m.Comments),
		Properties:           &Map[*Schema]{},
		AdditionalProperties: false,
		Limits:               limits(options.GetLimits()...),
	}
	for _, field := range m.Fields {
		if name := string(field.Desc.Name()); name == options.GetFailure() || name == options.GetEmptyLists() {
			continue
		}
		object.Properties.Set(field.Desc.JSONName(), s.fieldSchema(field))
		if isRequired(field.Desc) {
			object.Required = append(object.Required, field.Desc.JSONName())
		}
	}
	for _, name := range options.GetIgnored() {
		object.Properties.Set(name, &Schema{Description: "Ignored in requests, whatever its value.", Deprecated: true})
	}
	return object
}

// isRequired reports whether requests without the field are refused.
func isRequired(field protoreflect.FieldDescriptor) bool {
	policy := fieldOptions(field)
	return policy.GetRequired() || fieldRules(field).GetRequired() ||
		slices.ContainsFunc(policy.GetRanges(), (*optionsv1.Range).GetRequired)
}

func findField(m *protogen.Message, name string) *protogen.Field {
	for _, field := range m.Fields {
		if name != "" && string(field.Desc.Name()) == name {
			return field
		}
	}
	return nil
}

// fieldSchema returns the schema of a property.
func (s *schemas) fieldSchema(f *protogen.Field) *Schema {
	one := f
	if f.Desc.IsMap() {
		one = f.Message.Fields[1]
	}
	schema := s.value(one)
	policy := fieldOptions(f.Desc)
	applyRanges(schema, policy)
	applyFormat(schema, policy.GetFormat())
	for _, word := range policy.GetValues() {
		schema.Enum = append(schema.Enum, word)
	}
	if policy.GetEmptyAsList() {
		var none uint64
		schema = &Schema{AnyOf: []*Schema{schema, {Type: "array", MaxItems: &none}}}
	}
	rules := fieldRules(f.Desc)
	switch {
	case f.Desc.IsMap():
		schema = &Schema{Type: "object", AdditionalProperties: schema}
		if policy.GetKeyFormat() != optionsv1.Format_FORMAT_UNSPECIFIED {
			schema.PropertyNames = &Schema{}
			applyFormat(schema.PropertyNames, policy.GetKeyFormat())
		}
	case f.Desc.IsList():
		list := rules.GetRepeated()
		applyRules(schema, list.GetItems())
		schema = &Schema{Type: "array", Items: schema}
		if list != nil {
			schema.MinItems, schema.MaxItems = list.MinItems, list.MaxItems
		}
	default:
		applyRules(schema, rules)
	}
	if limit := policy.GetLimit(); limit != nil {
		schema.Limits = limits(limit)
		most := uint64(limit.GetMax())
		switch {
		case f.Desc.IsMap():
			schema.MaxProperties = &most
		case f.Desc.IsList():
			schema.MaxItems = &most
		}
	}
	schema.Description = describe(f)
	schema.Deprecated = f.Desc.Options().(*descriptorpb.FieldOptions).GetDeprecated()
	return schema
}

// describe returns the comment of a field, or else the comment of its message, and the other name
// that requests may use.
func describe(f *protogen.Field) string {
	text := comment(f.Comments)
	if text == "" && f.Message != nil && !f.Desc.IsMap() {
		text = comment(f.Message.Comments)
	}
	if alias := fieldOptions(f.Desc).GetAlias(); alias != "" {
		text = strings.TrimSpace(text + " Requests may also name it " + alias + ".")
	}
	return text
}

// value returns the schema of one value of a field.
func (s *schemas) value(f *protogen.Field) *Schema {
	switch f.Desc.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return s.message(f.Message)
	case protoreflect.EnumKind:
		return enum(f.Enum)
	case protoreflect.BoolKind:
		return &Schema{Type: "boolean"}
	case protoreflect.StringKind:
		return &Schema{Type: "string"}
	case protoreflect.BytesKind:
		return &Schema{Type: "string", ContentEncoding: "base64"}
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return &Schema{Type: "number", Format: "double"}
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind,
		protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return &Schema{Type: "integer", Format: "int64"}
	default:
		return &Schema{Type: "integer", Format: "int32"}
	}
}

func enum(e *protogen.Enum) *Schema {
	schema := &Schema{Type: "string"}
	for _, value := range e.Values {
		schema.Enum = append(schema.Enum, string(value.Desc.Name()))
	}
	return schema
}

func applyFormat(schema *Schema, format optionsv1.Format) {
	switch format {
	case optionsv1.Format_FORMAT_DATE:
		schema.Format = "date"
	case optionsv1.Format_FORMAT_DATE_TIME:
		schema.Pattern = localDateTime
	case optionsv1.Format_FORMAT_TIME:
		schema.Pattern = localTime
	case optionsv1.Format_FORMAT_LOCALE:
		schema.Pattern = locale
	case optionsv1.Format_FORMAT_INSTANT:
		schema.Format = "date-time"
	case optionsv1.Format_FORMAT_DATE_OR_INSTANT:
		schema.AnyOf = []*Schema{{Format: "date"}, {Format: "date-time"}}
	case optionsv1.Format_FORMAT_GUID:
		schema.Format = "uuid"
	}
}

// applyRanges writes the bounds of a number or a text; of several ranges, the narrowest.
func applyRanges(schema *Schema, policy *optionsv1.Field) {
	least, most := math.Inf(-1), math.Inf(1)
	for _, r := range policy.GetRanges() {
		if r.Min != nil {
			least = max(least, r.GetMin())
			schema.Minimum = least
		}
		if r.Max != nil {
			most = min(most, r.GetMax())
			schema.Maximum = most
		}
	}
	if length := policy.GetLength(); length != nil {
		most := uint64(length.GetMax())
		schema.MaxLength = &most
	}
}

// applyRules writes the validation rules of a contract as keywords.
func applyRules(schema *Schema, rules *validate.FieldRules) {
	if text := rules.GetString(); text != nil {
		schema.MinLength, schema.MaxLength = text.MinLen, text.MaxLen
		if text.Pattern != nil {
			schema.Pattern = text.GetPattern()
		}
		for _, word := range text.GetIn() {
			schema.Enum = append(schema.Enum, word)
		}
	}
	if number := rules.GetInt32(); number != nil {
		bounds(schema, number)
	}
	if number := rules.GetInt64(); number != nil {
		bounds(schema, number)
	}
}

// bounds writes gt, gte, lt and lte of the rules of a number.
func bounds(schema *Schema, rules proto.Message) {
	keywords := map[protoreflect.Name]*any{
		"gt": &schema.ExclusiveMinimum, "gte": &schema.Minimum,
		"lt": &schema.ExclusiveMaximum, "lte": &schema.Maximum,
	}
	rules.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if keyword, ok := keywords[fd.Name()]; ok {
			*keyword = value.Interface()
		}
		return true
	})
}

func limits(from ...*optionsv1.Limit) []Limit {
	var out []Limit
	for _, limit := range from {
		status := int(limit.GetStatus())
		if status == 0 {
			status = http.StatusRequestEntityTooLarge
		}
		out = append(out, Limit{
			Maximum: limit.GetMax(), Quantity: limit.GetQuantity(), ErrorCode: limit.GetCode(), Status: status,
		})
	}
	return out
}

func messageOptions(desc protoreflect.MessageDescriptor) *optionsv1.Message {
	options, _ := proto.GetExtension(desc.Options(), optionsv1.E_Message).(*optionsv1.Message)
	return options
}

func fieldOptions(desc protoreflect.FieldDescriptor) *optionsv1.Field {
	options, _ := proto.GetExtension(desc.Options(), optionsv1.E_Field).(*optionsv1.Field)
	return options
}

func fieldRules(desc protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(desc.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

func methodOptions(desc protoreflect.MethodDescriptor) (*optionsv1.Method, error) {
	options, ok := proto.GetExtension(desc.Options(), optionsv1.E_Method).(*optionsv1.Method)
	if !ok || options == nil {
		return nil, fmt.Errorf("%s has no policy", desc.FullName())
	}
	return options, nil
}

// comment returns the comment above a declaration, with each paragraph on one line.
func comment(comments protogen.CommentSet) string {
	var paragraphs []string
	for _, paragraph := range strings.Split(string(comments.Leading), "\n\n") {
		if words := strings.Fields(paragraph); len(words) > 0 {
			paragraphs = append(paragraphs, strings.Join(words, " "))
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

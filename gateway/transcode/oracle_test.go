package transcode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// maker makes random messages.
type maker struct {
	*rand.Rand
	// request omits values that only occur in responses: values that a bare array or an Any hides in JSON, and
	// numbers that JSON cannot express.
	request bool
}

func (r maker) message(desc protoreflect.MessageDescriptor, depth int) proto.Message {
	switch desc.FullName() {
	case "google.protobuf.Any":
		packed, err := anypb.New(r.message((&commonv1.Ref{}).ProtoReflect().Descriptor(), depth+1))
		if err != nil {
			panic(err)
		}
		return packed
	case "google.protobuf.Struct":
		return r.structure(depth)
	case "google.protobuf.Value":
		return r.value(depth)
	case "google.protobuf.ListValue":
		return &structpb.ListValue{Values: []*structpb.Value{r.value(depth + 1), r.value(depth + 1)}}
	}
	m := dynamicpb.NewMessage(desc)
	bare := messageOption(desc).GetBareArray()
	for i := range desc.Fields().Len() {
		fd := desc.Fields().Get(i)
		if r.IntN(3) < min(depth+1, 2) || fd.Message() != nil && !fd.IsMap() && depth > 3 {
			continue
		}
		if r.request && (bare != "" && string(fd.Name()) != bare || isAny(fd) || messageOption(desc).GetFailure() == string(fd.Name()) ||
			messageOption(desc).GetEmptyLists() == string(fd.Name()) || fieldOption(fd).GetEmptyAsList()) {
			continue
		}
		r.field(m, fd, depth)
	}
	return m
}

func isAny(fd protoreflect.FieldDescriptor) bool {
	return fd.Message() != nil && fd.Message().FullName() == "google.protobuf.Any"
}

func (r maker) field(m protoreflect.Message, fd protoreflect.FieldDescriptor, depth int) {
	switch {
	case fd.IsMap():
		if depth > 2 {
			return
		}
		for range r.IntN(3) {
			m.Mutable(fd).Map().Set(r.scalar(fd.MapKey()).MapKey(), r.single(fd.MapValue(), depth))
		}
	case fd.IsList():
		for range r.IntN(4) {
			m.Mutable(fd).List().Append(r.single(fd, depth))
		}
	default:
		m.Set(fd, r.single(fd, depth))
	}
}

func (r maker) single(fd protoreflect.FieldDescriptor, depth int) protoreflect.Value {
	if fd.Message() == nil {
		return r.scalar(fd)
	}
	made := r.message(fd.Message(), depth+1)
	if v, ok := made.(*structpb.Value); ok && r.request && fieldOption(fd).GetExactNumber() {
		if _, number := v.GetKind().(*structpb.Value_NumberValue); number {
			// It would be read as text.
			made = structpb.NewStringValue(r.text())
		}
	}
	m := dynamicpb.NewMessage(fd.Message())
	b, err := proto.Marshal(made)
	if err != nil {
		panic(err)
	}
	if err := proto.Unmarshal(b, m); err != nil {
		panic(err)
	}
	return protoreflect.ValueOfMessage(m)
}

func (r maker) scalar(fd protoreflect.FieldDescriptor) protoreflect.Value {
	integers := []int64{0, 1, -1, 127, 128, 300, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, r.Int64(), 1 << 53}
	n := integers[r.IntN(len(integers))]
	floats := []float64{0, 1, -1.5, 0.1, 1e21, 1e-7, 3e-9, 123456789.125, math.MaxFloat64, math.SmallestNonzeroFloat64, r.NormFloat64()}
	if !r.request {
		floats = append(floats, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1))
	}
	x := floats[r.IntN(len(floats))]
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(n%2 == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(r.IntN(4) - 2))
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(n)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(n))
	case protoreflect.FloatKind:
		if r.request && math.IsInf(float64(float32(x)), 0) {
			x = 1
		}
		return protoreflect.ValueOfFloat32(float32(x))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(x)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(r.text()))
	default:
		return protoreflect.ValueOfString(r.text())
	}
}

func (r maker) text() string {
	texts := []string{"", "plain", "Rotaloom/West/Zürich/Warehouse", `quote " and \ slash /`, "line\nfeed\ttab\x01\x1f", "<&>", "日本語 \u2028", "😀", "2025-03-03T06:00:00", "ÿ"}
	return texts[r.IntN(len(texts))]
}

func (r maker) structure(depth int) *structpb.Struct {
	s := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for range r.IntN(3) {
		s.Fields[r.text()] = r.value(depth + 1)
	}
	return s
}

func (r maker) value(depth int) *structpb.Value {
	switch n := r.IntN(6); {
	case n == 0 && depth < 4:
		return structpb.NewStructValue(r.structure(depth))
	case n == 1 && depth < 4:
		return structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{r.value(depth + 1)}})
	case n == 2:
		return structpb.NewBoolValue(depth%2 == 0)
	case n == 3:
		return structpb.NewNumberValue(r.NormFloat64())
	case n == 4:
		return structpb.NewStringValue(r.text())
	default:
		return structpb.NewNullValue()
	}
}

func messageOption(desc protoreflect.MessageDescriptor) *optionsv1.Message {
	m, _ := proto.GetExtension(desc.Options(), optionsv1.E_Message).(*optionsv1.Message)
	return m
}

func fieldOption(fd protoreflect.FieldDescriptor) *optionsv1.Field {
	f, _ := proto.GetExtension(fd.Options(), optionsv1.E_Field).(*optionsv1.Field)
	return f
}

// decode reads JSON into Go values, numbers in one canonical form.
func decode(t testing.TB, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	require.NoError(t, d.Decode(&v), "%s", text)
	return canonical(v)
}

func canonical(v any) any {
	switch v := v.(type) {
	case json.Number:
		return canonicalNumber(string(v))
	case map[string]any:
		for k := range v {
			v[k] = canonical(v[k])
		}
	case []any:
		for i := range v {
			v[i] = canonical(v[i])
		}
	}
	return v
}

func canonicalNumber(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && text != "-0" {
		return n
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return n
	}
	x, _ := strconv.ParseFloat(text, 64)
	return x
}

// expectedJSON returns the JSON that protojson writes of a message, changed by the documented
// differences.
func expectedJSON(t testing.TB, m proto.Message) any {
	t.Helper()
	text, err := protojson.Marshal(m)
	require.NoError(t, err)
	return ours(t, m.ProtoReflect().Descriptor(), decode(t, text))
}

func ours(t testing.TB, desc protoreflect.MessageDescriptor, v any) any {
	t.Helper()
	switch desc.FullName() {
	case "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue":
		return v
	}
	object := v.(map[string]any)
	if desc.FullName() == "google.protobuf.Any" {
		url, ok := object["@type"].(string)
		if !ok {
			return object
		}
		delete(object, "@type")
		packed, err := protoregistry.GlobalTypes.FindMessageByURL(url)
		require.NoError(t, err)
		if v, ok := object["value"]; ok && packed.Descriptor().ParentFile().Package() == "google.protobuf" {
			return ours(t, packed.Descriptor(), v)
		}
		return ours(t, packed.Descriptor(), object)
	}
	for i := range desc.Fields().Len() {
		fd := desc.Fields().Get(i)
		if v, ok := object[fd.JSONName()]; ok {
			object[fd.JSONName()] = ourField(t, fd, v)
		}
	}
	option := messageOption(desc)
	if fd := desc.Fields().ByName(protoreflect.Name(option.GetEmptyLists())); fd != nil {
		addEmptyLists(desc, fd, object)
	}
	if fd := desc.Fields().ByName(protoreflect.Name(option.GetFailure())); fd != nil && object[fd.JSONName()] != nil {
		return object[fd.JSONName()]
	}
	if fd := desc.Fields().ByName(protoreflect.Name(option.GetBareArray())); fd != nil {
		if items, ok := object[fd.JSONName()]; ok {
			return items
		}
		return []any{}
	}
	return object
}

func ourField(t testing.TB, fd protoreflect.FieldDescriptor, v any) any {
	t.Helper()
	if fd.IsMap() {
		entries := v.(map[string]any)
		for k := range entries {
			entries[k] = ourSingle(t, fd.MapValue(), entries[k])
		}
		return entries
	}
	if m, ok := v.(map[string]any); ok && len(m) == 0 && fieldOption(fd).GetEmptyAsList() {
		return []any{}
	}
	if fd.IsList() {
		items := v.([]any)
		for i := range items {
			items[i] = ourSingle(t, fd, items[i])
		}
		return items
	}
	return ourSingle(t, fd, v)
}

func ourSingle(t testing.TB, fd protoreflect.FieldDescriptor, v any) any {
	t.Helper()
	switch fd.Kind() {
	case protoreflect.MessageKind:
		return ours(t, fd.Message(), v)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return canonicalNumber(v.(string))
	}
	return v
}

// addEmptyLists replaces the numbers of empty lists by these lists.
func addEmptyLists(desc protoreflect.MessageDescriptor, numbers protoreflect.FieldDescriptor, object map[string]any) {
	named, _ := object[numbers.JSONName()].([]any)
	delete(object, numbers.JSONName())
	for _, n := range named {
		number, err := strconv.ParseInt(fmt.Sprint(n), 10, 32)
		if err != nil {
			continue
		}
		list := desc.Fields().ByNumber(protoreflect.FieldNumber(number))
		if list == nil || !list.IsList() || list == numbers || object[list.JSONName()] != nil {
			continue
		}
		object[list.JSONName()] = []any{}
	}
}

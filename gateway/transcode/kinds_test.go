package transcode_test

import (
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	_ "google.golang.org/protobuf/types/known/anypb"
	_ "google.golang.org/protobuf/types/known/structpb"

	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	_ "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

type (
	fieldProto   = descriptorpb.FieldDescriptorProto
	messageProto = descriptorpb.DescriptorProto
)

// kindsFile holds message types with every kind of field that proto3 knows,
// which the contracts do not all use: test.Kinds and test.Items.
var kindsFile = sync.OnceValue(func() protoreflect.FileDescriptor {
	types := map[string]descriptorpb.FieldDescriptorProto_Type{
		"double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed64": 6, "fixed32": 7, "bool": 8,
		"string": 9, "bytes": 12, "uint32": 13, "sfixed32": 15, "sfixed64": 16, "sint32": 17, "sint64": 18,
	}
	names := []string{
		"double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string", "bytes",
		"uint32", "sfixed32", "sfixed64", "sint32", "sint64",
	}
	kinds := &messageProto{Name: proto.String("Kinds")}
	next := int32(1)
	add := func(name string, f *fieldProto) *fieldProto {
		f.Name, f.Number = proto.String(name), proto.Int32(next)
		if f.Label == nil {
			f.Label = descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
		}
		kinds.Field = append(kinds.Field, f)
		next++
		return f
	}
	repeated := descriptorpb.FieldDescriptorProto_LABEL_REPEATED
	message := func(name string) *fieldProto {
		return &fieldProto{Type: descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), TypeName: &name}
	}
	list := func(f *fieldProto) *fieldProto {
		f.Label = repeated.Enum()
		return f
	}
	enum := func() *fieldProto {
		return &fieldProto{Type: descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum(), TypeName: proto.String(".test.Color")}
	}
	scalar := func(name string) *fieldProto { return &fieldProto{Type: types[name].Enum()} }
	for _, name := range names {
		add("a_"+name, scalar(name))
		add("list_"+name, list(scalar(name)))
	}
	unpacked := list(scalar("int32"))
	unpacked.Options = &descriptorpb.FieldOptions{Packed: proto.Bool(false)}
	add("unpacked", unpacked)
	add("color", enum())
	add("colors", list(enum()))
	add("kinds", message(".test.Kinds"))
	add("list_kinds", list(message(".test.Kinds")))
	add("struct", message(".google.protobuf.Struct"))
	add("value", message(".google.protobuf.Value"))
	add("values", message(".google.protobuf.ListValue"))
	add("any", message(".google.protobuf.Any"))
	add("empty", message(".google.protobuf.Empty"))
	add("items", message(".test.Items"))
	add("list_items", list(message(".test.Items")))
	kinds.OneofDecl = []*descriptorpb.OneofDescriptorProto{{Name: proto.String("choice")}}
	// In this order: the numbers of fields follow from it.
	add("choice_int", scalar("int64")).OneofIndex = proto.Int32(0)
	add("choice_text", scalar("string")).OneofIndex = proto.Int32(0)
	add("choice_kinds", message(".test.Kinds")).OneofIndex = proto.Int32(0)
	mapOf := func(name, entry string, key, value *fieldProto) {
		key.Name, key.Number, key.Label = proto.String("key"), proto.Int32(1), descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
		value.Name, value.Number, value.Label = proto.String("value"), proto.Int32(2), descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum()
		kinds.NestedType = append(kinds.NestedType, &messageProto{
			Name: &entry, Field: []*fieldProto{key, value}, Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
		})
		add(name, list(message(".test.Kinds."+entry)))
	}
	mapOf("by_text", "ByTextEntry", scalar("string"), scalar("int64"))
	mapOf("by_number", "ByNumberEntry", scalar("int32"), message(".test.Kinds"))
	mapOf("by_bool", "ByBoolEntry", scalar("bool"), enum())
	for _, name := range names { // with presence, and with numbers that take two bytes and more
		next += 200
		f := add("o_"+name, scalar(name))
		f.Proto3Optional = proto.Bool(true)
		f.OneofIndex = proto.Int32(int32(len(kinds.OneofDecl)))
		kinds.OneofDecl = append(kinds.OneofDecl, &descriptorpb.OneofDescriptorProto{Name: proto.String("_o_" + name)})
	}
	mapOf("texts", "TextsEntry", scalar("string"), scalar("string"))

	options := &descriptorpb.MessageOptions{}
	proto.SetExtension(options, optionsv1.E_Message, &optionsv1.Message{BareArray: "items", Failure: "failure"})
	items := &messageProto{Name: proto.String("Items"), Options: options, Field: []*fieldProto{
		{Name: proto.String("items"), Number: proto.Int32(1), Label: repeated.Enum(), Type: types["int64"].Enum()},
		{
			Name: proto.String("failure"), Number: proto.Int32(2), Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
			Type: descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), TypeName: proto.String(".test.Kinds"),
		},
	}}

	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("test.proto"), Package: proto.String("test"), Syntax: proto.String("proto3"),
		Dependency:  []string{"google/protobuf/any.proto", "google/protobuf/struct.proto", "google/protobuf/empty.proto"},
		MessageType: []*messageProto{kinds, items},
		EnumType: []*descriptorpb.EnumDescriptorProto{{Name: proto.String("Color"), Value: []*descriptorpb.EnumValueDescriptorProto{
			{Name: proto.String("NONE"), Number: proto.Int32(0)},
			{Name: proto.String("RED"), Number: proto.Int32(1)},
			{Name: proto.String("GREEN"), Number: proto.Int32(-2)},
		}}},
	}, protoregistry.GlobalFiles)
	if err != nil {
		panic(err)
	}
	return file
})

// messageTypes returns every message type of the contracts, and those above.
var messageTypes = sync.OnceValue(func() []protoreflect.MessageDescriptor {
	var all []protoreflect.MessageDescriptor
	var visit func(protoreflect.MessageDescriptors)
	visit = func(list protoreflect.MessageDescriptors) {
		for i := range list.Len() {
			if m := list.Get(i); !m.IsMapEntry() {
				all = append(all, m)
				visit(m.Messages())
			}
		}
	}
	visit(kindsFile().Messages())
	protoregistry.GlobalFiles.RangeFiles(func(f protoreflect.FileDescriptor) bool {
		if len(f.Package()) > 8 && f.Package()[:9] == "rotaloom." {
			visit(f.Messages())
		}
		return true
	})
	return all
})

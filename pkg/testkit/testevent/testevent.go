// Package testevent has events for tests of the building blocks, which have no real events.
package testevent

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// The subjects of the events, and the names of their message types.
const (
	ChangedSubject   = "rotaloom.test.thing.changed"
	RequestedSubject = "rotaloom.test_work.thing.requested"
	Changed          = "rotaloom.test.v1.ThingChanged"
	Requested        = "rotaloom.test.v1.ThingRequested"
	// Plain is a message that is not an event.
	Plain = "rotaloom.test.v1.Thing"
)

// Files returns a registry with only these messages. Each has one field, the text "name".
func Files(t testing.TB) *protoregistry.Files {
	t.Helper()
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("rotaloom/test/v1/test.proto"), Package: proto.String("rotaloom.test.v1"),
		Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{
			message("ThingChanged", ChangedSubject), message("ThingRequested", RequestedSubject), message("Thing", ""),
		},
	}, protoregistry.GlobalFiles)
	require.NoError(t, err)
	files := &protoregistry.Files{}
	require.NoError(t, files.RegisterFile(file))
	return files
}

func message(name, subject string) *descriptorpb.DescriptorProto {
	opts := &descriptorpb.MessageOptions{}
	if subject != "" {
		proto.SetExtension(opts, optionsv1.E_Event, &optionsv1.Event{Subject: subject})
	}
	return &descriptorpb.DescriptorProto{
		Name: proto.String(name), Options: opts,
		Field: []*descriptorpb.FieldDescriptorProto{{
			Name: proto.String("name"), JsonName: proto.String("name"), Number: proto.Int32(1),
			Type:  descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(),
		}},
	}
}

// New returns a message of the registry with a name in it.
func New(t testing.TB, files *protoregistry.Files, message protoreflect.FullName, name string) proto.Message {
	t.Helper()
	found, err := files.FindDescriptorByName(message)
	require.NoError(t, err)
	descriptor, ok := found.(protoreflect.MessageDescriptor)
	require.True(t, ok)
	made := dynamicpb.NewMessage(descriptor)
	made.Set(descriptor.Fields().ByName("name"), protoreflect.ValueOfString(name))
	return made
}

// Payload returns the bytes of a message with a name in it, as an event carries them.
func Payload(t testing.TB, name string) []byte {
	t.Helper()
	payload, err := proto.Marshal(New(t, Files(t), Changed, name))
	require.NoError(t, err)
	return payload
}

// Name returns the name in the bytes of a message.
func Name(t testing.TB, descriptor protoreflect.Descriptor, payload []byte) string {
	t.Helper()
	message, ok := descriptor.(protoreflect.MessageDescriptor)
	require.True(t, ok)
	read := dynamicpb.NewMessage(message)
	require.NoError(t, proto.Unmarshal(payload, read))
	return read.Get(message.Fields().ByName("name")).String()
}

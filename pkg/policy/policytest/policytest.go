// Package policytest builds contracts for tests of contract readers, without generated code.
package policytest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Files builds descriptors from a google.protobuf.FileDescriptorProto in text
// form. The file may depend on all files that are linked into the test.
func Files(tb testing.TB, text string) *protoregistry.Files {
	tb.Helper()
	desc := &descriptorpb.FileDescriptorProto{}
	require.NoError(tb, prototext.Unmarshal([]byte(text), desc))
	file, err := protodesc.NewFile(desc, protoregistry.GlobalFiles)
	require.NoError(tb, err)
	files := &protoregistry.Files{}
	require.NoError(tb, files.RegisterFile(file))
	return files
}

// Message parses a message of the named type from its text form.
func Message(tb testing.TB, files *protoregistry.Files, name, text string) proto.Message {
	tb.Helper()
	desc, err := files.FindDescriptorByName(protoreflect.FullName(name))
	require.NoError(tb, err)
	msg := dynamicpb.NewMessage(desc.(protoreflect.MessageDescriptor))
	require.NoError(tb, prototext.Unmarshal([]byte(text), msg))
	return msg
}

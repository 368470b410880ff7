package attack

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// messageOptions returns the options of a message in the contract, or nil.
func messageOptions(m protoreflect.MessageDescriptor) *optionsv1.Message {
	o, _ := proto.GetExtension(m.Options(), optionsv1.E_Message).(*optionsv1.Message)
	return o
}

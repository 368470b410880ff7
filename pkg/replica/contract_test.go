package replica_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/replica"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

func TestReadContract(t *testing.T) {
	t.Parallel()
	c, err := replica.ReadContract(things)
	require.NoError(t, err)
	assert.Equal(t, "test", c.Owner)
	assert.Equal(t, "things", c.Topic)
	assert.Equal(t, []string{"reader"}, c.Consumers)

	for name, test := range map[string]struct {
		option *optionsv1.Event
		want   string
	}{
		"no event":   {nil, "is not an event"},
		"no states":  {&optionsv1.Event{Subject: "rotaloom.test.x.changed"}, "has no replication options"},
		"no owner":   {with(&optionsv1.Replication{Topic: "x", Key: "id", Version: "version"}), "its owner is"},
		"no topic":   {with(&optionsv1.Replication{Owner: "test", Key: "id", Version: "version"}), "it has no topic"},
		"no key":     {with(&optionsv1.Replication{Owner: "test", Topic: "x", Version: "version"}), "needs a key"},
		"no field":   {with(&optionsv1.Replication{Owner: "test", Topic: "x", Key: "it", Version: "version"}), `no field "it"`},
		"wrong kind": {with(&optionsv1.Replication{Owner: "test", Topic: "x", Key: "gone", Version: "version"}), `no field "gone" of kind int64`},
		"no list":    {with(&optionsv1.Replication{Owner: "test", Topic: "x", States: "id", Key: "id", Version: "version"}), "is not a list of messages"},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
				Name: proto.String("x.proto"), Package: proto.String("x"), Syntax: proto.String("proto3"),
				MessageType: []*descriptorpb.DescriptorProto{message("X", test.option, int64s("id"), int64s("version"), bools("gone"))},
			}, &protoregistry.Files{})
			require.NoError(t, err)
			_, err = replica.ReadContract(made.Messages().Get(0))
			assert.ErrorContains(t, err, test.want)
		})
	}
}

func with(r *optionsv1.Replication) *optionsv1.Event {
	return &optionsv1.Event{Subject: "rotaloom.test.x.changed", Replication: r}
}

func TestConsumersAreNamedByTheContract(t *testing.T) {
	t.Parallel()
	c := bus.NewConsumer("reader", dynamicpb.NewMessage(things))
	assert.Equal(t, "reader-thing-changed", c.Durable)
	assert.Equal(t, "TEST", c.Stream)
	assert.Equal(t, []string{"rotaloom.test.thing.changed"}, c.Subjects)

	w := newFixture(t)
	for of, want := range map[protoreflect.MessageDescriptor]string{
		things:                          "does not name stranger as a consumer",
		file.Messages().ByName("Thing"): "is not an event",
	} {
		assert.ErrorContains(t, w.bus.Run(t.Context(), bus.NewConsumer("stranger", dynamicpb.NewMessage(of))), want)
	}
}

package bus_test

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/testkit/testevent"
)

func TestStreamsFollowFromTheContracts(t *testing.T) {
	t.Parallel()
	streams, err := bus.Streams(testevent.Files(t), bus.Limits{Replicas: 3})
	require.NoError(t, err)
	require.Len(t, streams, 2)

	events, work := streams[0], streams[1]
	assert.Equal(t, "TEST", events.Name)
	assert.Equal(t, []string{"rotaloom.test.>"}, events.Subjects)
	assert.Equal(t, jetstream.LimitsPolicy, events.Retention)
	assert.Equal(t, jetstream.DiscardOld, events.Discard)
	assert.Equal(t, 3, events.Replicas)

	assert.Equal(t, "TEST_WORK", work.Name)
	assert.Equal(t, []string{"rotaloom.test_work.>"}, work.Subjects)
	assert.Equal(t, jetstream.WorkQueuePolicy, work.Retention)
	assert.Equal(t, jetstream.DiscardNew, work.Discard)

	for _, s := range streams {
		assert.Equal(t, jetstream.FileStorage, s.Storage)
		assert.Equal(t, bus.DuplicateWindow, s.Duplicates)
		assert.Positive(t, s.MaxBytes)
		assert.Positive(t, s.MaxAge)
	}
}

func TestSubjectOf(t *testing.T) {
	t.Parallel()
	files := testevent.Files(t)
	find := func(name protoreflect.FullName) protoreflect.MessageDescriptor {
		found, err := files.FindDescriptorByName(name)
		require.NoError(t, err)
		return found.(protoreflect.MessageDescriptor)
	}
	subject, err := bus.EventSubject(find(testevent.Requested))
	require.NoError(t, err)
	assert.Equal(t, testevent.RequestedSubject, subject)
	assert.Equal(t, "TEST_WORK", bus.StreamName(subject))

	_, err = bus.EventSubject(find(testevent.Plain))
	assert.ErrorContains(t, err, "is not an event")
}

func TestDecode(t *testing.T) {
	t.Parallel()
	payload, err := proto.Marshal(wrapperspb.String("hello"))
	require.NoError(t, err)
	message := bus.Message{ID: "1", Event: "google.protobuf.StringValue", Payload: payload}

	text, err := bus.Decode[*wrapperspb.StringValue](message)
	require.NoError(t, err)
	assert.Equal(t, "hello", text.GetValue())

	_, err = bus.Decode[*wrapperspb.Int64Value](message)
	assert.ErrorContains(t, err, "not a google.protobuf.Int64Value")

	message.Payload = []byte{0xff}
	_, err = bus.Decode[*wrapperspb.StringValue](message)
	assert.Error(t, err)
}

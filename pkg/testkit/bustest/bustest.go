// Package bustest publishes events in the name of the services that own them.
package bustest

import (
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Publish publishes an event of the default tenant. Each call publishes a new event. It waits until
// the service under test has created the stream.
func Publish(t testing.TB, conn *nats.Conn, event proto.Message) {
	t.Helper()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	descriptor := event.ProtoReflect().Descriptor()
	subject, err := bus.EventSubject(descriptor)
	require.NoError(t, err)
	payload, err := proto.Marshal(event)
	require.NoError(t, err)
	message := &nats.Msg{Subject: subject, Data: payload, Header: nats.Header{
		bus.HeaderTenant: {strconv.FormatInt(tenant.Default, 10)}, bus.HeaderEvent: {string(descriptor.FullName())},
		bus.HeaderID: {nats.NewInbox()},
	}}
	require.Eventually(t, func() bool {
		_, err := js.PublishMsg(t.Context(), message)
		return err == nil
	}, 20*time.Second, 5*time.Millisecond, "the service makes the stream")
}

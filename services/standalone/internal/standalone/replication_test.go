package standalone

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	_ "github.com/rotaloom/rotaloom/proto/contracts"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	"github.com/rotaloom/rotaloom/services/commons"
	"github.com/rotaloom/rotaloom/services/scheduling"
	"github.com/rotaloom/rotaloom/services/timekeeping"
)

// consumes is what consumes events: a service, or its propagator.
type consumes interface{ Consumers() []bus.Consumer }

// parts are the services that have events, without a database or a broker.
func parts(t *testing.T) (consumers map[string]consumes, replicators map[string]*replica.Replicator) {
	t.Helper()
	backends := func() serve.Backends {
		pool, err := pg.NewPool(t.Context(), pg.Config{URL: "postgres://nobody@127.0.0.1:1/nowhere"})
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		conn, err := natsconn.Connect(natsconn.Config{URL: obs.Secret("nats://127.0.0.1:1")}, "test", pgtest.Log(t))
		require.NoError(t, err)
		t.Cleanup(conn.Close)
		return serve.Backends{Pool: pool, NATS: conn, Clock: clock.System{}, Log: pgtest.Log(t), Registry: prometheus.NewRegistry()}
	}
	c, err := commons.New(t.Context(), commons.Config{}, commons.Deps{Backends: backends()})
	require.NoError(t, err)
	tk, err := timekeeping.New(t.Context(), timekeeping.Config{}, timekeeping.Deps{Backends: backends()})
	require.NoError(t, err)
	s, err := scheduling.New(t.Context(), scheduling.Config{}, scheduling.Deps{Backends: backends()})
	require.NoError(t, err)
	return map[string]consumes{"commons": c, "timekeeping": tk, "scheduling": s, "propagator": s.Propagator},
		map[string]*replica.Replicator{"commons": c.Replicator, "timekeeping": tk.Replicator, "scheduling": s.Replicator}
}

// contractEvents are all events of the contracts, with what their options say.
func contractEvents(t *testing.T) map[protoreflect.MessageDescriptor]*optionsv1.Event {
	t.Helper()
	found := map[protoreflect.MessageDescriptor]*optionsv1.Event{}
	protoregistry.GlobalFiles.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		for i := range file.Messages().Len() {
			message := file.Messages().Get(i)
			if option, _ := proto.GetExtension(message.Options(), optionsv1.E_Event).(*optionsv1.Event); option.GetSubject() != "" {
				found[message] = option
			}
		}
		return true
	})
	require.NotEmpty(t, found)
	return found
}

// Each event has exactly the consumers that its contract names.
func TestEventsHaveTheConsumersOfTheirContracts(t *testing.T) {
	consumers, _ := parts(t)
	declared, running := []string{}, []string{}
	for _, option := range contractEvents(t) {
		for _, service := range option.GetConsumers() {
			assert.Contains(t, consumers, service, option.GetSubject())
			declared = append(declared, bus.DurableName(service, option.GetSubject()))
		}
	}
	for name, part := range consumers {
		for _, c := range part.Consumers() {
			require.NotEmpty(t, c.Durable, "a consumer of %s that its contract does not name", name)
			running = append(running, c.Durable)
		}
	}
	slices.Sort(declared)
	slices.Sort(running)
	assert.Equal(t, declared, running)
}

// Each event that carries states has an owner that is responsible for it, and a copy at
// each consumer; and no topic is owned twice.
func TestTopicsHaveOwnersAndCopies(t *testing.T) {
	_, replicators := parts(t)
	topics, owned, copied := map[string]bool{}, []string{}, []string{}
	for event, option := range contractEvents(t) {
		if option.GetReplication() == nil {
			continue
		}
		contract, err := replica.ReadContract(event)
		require.NoError(t, err)
		assert.False(t, topics[contract.Topic], "the topic %s is published by two events", contract.Topic)
		topics[contract.Topic] = true
		owned = append(owned, contract.Owner+" "+contract.Topic)
		for _, service := range contract.Consumers {
			copied = append(copied, service+" "+contract.Topic)
		}
	}
	var owns, keeps []string
	for name, r := range replicators {
		for _, c := range r.OwnedContracts() {
			owns = append(owns, name+" "+c.Topic)
		}
		for _, c := range r.Copies() {
			assert.Equal(t, name, c.Service())
			keeps = append(keeps, name+" "+c.Contract().Topic)
		}
	}
	assert.ElementsMatch(t, owned, owns)
	assert.ElementsMatch(t, copied, keeps)
}

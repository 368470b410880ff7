package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"google.golang.org/protobuf/proto"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Consumer is one reader of a stream. All replicas of a service run the same consumers and share
// their messages.
type Consumer struct {
	// Durable is the name, unique in the stream; it labels logs and metrics. A consumer with a new
	// name starts from the oldest event in the stream.
	Durable string
	Stream  string
	// Subjects are the subjects to read; none means all.
	Subjects []string

	// invalid is the reason why the consumer cannot run: its contract does not name the service.
	invalid error

	// Handle handles one message. Exactly one of Handle and HandleBatch is set.
	//
	// The context carries the message's tenant and request. If Handle returns nil, the message is
	// done. After an error, the message is redelivered with growing delays. After MaxDeliver
	// failures it becomes a dead letter.
	Handle func(context.Context, Message) error
	// HandleBatch handles several messages of one tenant, in one transaction for example. If it
	// fails, it gets each message alone, so that a bad one does not block the others.
	HandleBatch func(context.Context, []Message) error
	// BatchSize is the largest number of messages in a batch; 0 means 100.
	BatchSize int

	// Concurrency is the number of handlers that run at once in this process; 0 means 1.
	Concurrency int
	// Prefetch is the number of messages that are fetched ahead of the handlers; 0 means some for
	// each handler. If messages stand for long work, 1 shares them best among replicas.
	Prefetch int
	// AckWait is how long the broker waits before it gives the messages of a dead process to
	// another one; 0 means 6 s. A handler may take longer: the bus tells the broker that it is at
	// work.
	AckWait time.Duration
	// MaxDeliver is how often a message may fail; 0 means 8. Deliveries to processes that died do
	// not count.
	MaxDeliver int
	// Backoff is the delay before the second, third, … attempt; the last value repeats. The default
	// is 1 s, 5 s, 30 s, 2 min.
	Backoff []time.Duration
	// DrainTimeout is the time that handlers get to finish when the consumer stops; 0 means 10 s.
	DrainTimeout time.Duration
}

// maxAckPending bounds the unacknowledged messages of all replicas together.
const maxAckPending = 10_000

// NewConsumer returns a service's consumer of an event, with name, stream and subject from the
// event's contract. If the contract does not name the service, running the consumer fails.
func NewConsumer(service string, event proto.Message) Consumer {
	descriptor := event.ProtoReflect().Descriptor()
	subject, err := EventSubject(descriptor)
	if err != nil {
		return Consumer{invalid: err}
	}
	option, _ := proto.GetExtension(descriptor.Options(), optionsv1.E_Event).(*optionsv1.Event)
	if !slices.Contains(option.GetConsumers(), service) {
		return Consumer{invalid: fmt.Errorf("bus: the contract of %s does not name %s as a consumer", descriptor.FullName(), service)}
	}
	return Consumer{Durable: DurableName(service, subject), Stream: StreamName(subject), Subjects: []string{subject}}
}

// DurableName returns the name of a service's consumer of a well-formed subject:
// "<service>-<resource>-<verb>".
func DurableName(service, subject string) string {
	parts := strings.Split(subject, ".")
	return strings.Join(append([]string{service}, parts[2:]...), "-")
}

// withDefaults returns c with defaults for zero fields, or an error if c is invalid.
func (c Consumer) withDefaults() (Consumer, error) {
	if c.invalid != nil {
		return c, c.invalid
	}
	if c.Durable == "" || c.Stream == "" {
		return c, errors.New("bus: a consumer needs a name and a stream")
	}
	if (c.Handle == nil) == (c.HandleBatch == nil) {
		return c, fmt.Errorf("bus: consumer %s needs either Handle or HandleBatch", c.Durable)
	}
	if c.Handle != nil {
		c.BatchSize = 1
		c.HandleBatch = func(ctx context.Context, batch []Message) error { return c.Handle(ctx, batch[0]) }
	}
	c.BatchSize = cmp.Or(c.BatchSize, 100)
	c.Concurrency = cmp.Or(c.Concurrency, 1)
	c.Prefetch = cmp.Or(c.Prefetch, c.Concurrency*max(c.BatchSize, 32))
	c.AckWait = cmp.Or(c.AckWait, 6*time.Second)
	c.MaxDeliver = cmp.Or(c.MaxDeliver, 8)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, 10*time.Second)
	if len(c.Backoff) == 0 {
		c.Backoff = []time.Duration{time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute}
	}
	if min(c.BatchSize, c.Concurrency, c.Prefetch, c.MaxDeliver) < 1 || min(c.AckWait, slices.Min(c.Backoff)) < 0 {
		return c, fmt.Errorf("bus: consumer %s has a negative setting", c.Durable)
	}
	return c, nil
}

// delay returns the wait after the given attempt, counted from 1.
func (c Consumer) delay(delivery int) time.Duration {
	return c.Backoff[min(delivery, len(c.Backoff))-1]
}

func (c Consumer) config() jetstream.ConsumerConfig {
	cfg := jetstream.ConsumerConfig{
		Durable:        c.Durable,
		FilterSubjects: c.Subjects,
		DeliverPolicy:  jetstream.DeliverAllPolicy,
		AckPolicy:      jetstream.AckExplicitPolicy,
		AckWait:        c.AckWait,
		// The bus counts deliveries itself: the broker would leave a message that was delivered too
		// often in the stream, and deliver it no more.
		MaxDeliver:    -1,
		MaxAckPending: maxAckPending,
	}
	if len(c.Subjects) == 1 {
		// A single subject is part of the subject by which a consumer is created. So a server can
		// restrict services to the events that they consume.
		cfg.FilterSubjects, cfg.FilterSubject = nil, c.Subjects[0]
	}
	return cfg
}

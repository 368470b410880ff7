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

// Consumer is one reader of a stream. All replicas of a service run the same
// ones and share their messages.
type Consumer struct {
	// Durable is its name, unique in the stream; it labels logs and metrics.
	// Another name starts again from the oldest event that the stream has.
	Durable string
	Stream  string
	// Subjects of the stream to read; none means all.
	Subjects []string

	// wrong is why the consumer cannot be: its contract does not know it.
	wrong error

	// Handle works on one message. Exactly one of Handle and HandleBatch is set.
	//
	// The context carries the message's tenant and request. When it returns nil
	// the message is done. After an error it comes again, later each time, until
	// it has been tried MaxDeliver times and goes to the dead letters.
	Handle func(context.Context, Message) error
	// HandleBatch works on several messages of one tenant, in one transaction for
	// example. When it fails, each of them is given to it alone, so that a bad one
	// does not keep the others back.
	HandleBatch func(context.Context, []Message) error
	// BatchSize is the most messages of a batch; 0 means 100.
	BatchSize int

	// Concurrency is how many handlers run at once in this process; 0 means 1.
	Concurrency int
	// Prefetch is how many messages are asked for ahead of the handlers; 0 means
	// some for each of them. Where messages stand for long work, 1 shares them
	// best among replicas.
	Prefetch int
	// AckWait is how long the broker waits before it gives the messages of a
	// process that died to another; 0 means 6 s. A handler may take longer: the
	// broker is notified that it is at work.
	AckWait time.Duration
	// MaxDeliver is how often a message may fail; 0 means 8. It may be delivered
	// more often, to processes that died.
	MaxDeliver int
	// Backoff is the wait before the second, third, … try; the last one repeats.
	// None means 1 s, 5 s, 30 s, 2 min.
	Backoff []time.Duration
	// DrainTimeout is how long handlers may finish when the consumer is stopped;
	// 0 means 10 s.
	DrainTimeout time.Duration
}

// maxAckPending bounds the messages that all replicas together have in hand.
const maxAckPending = 10_000

// ConsumerOf returns the consumer by which a service reads an event, with its
// name, stream and subject as the contract of the event says. A service that the
// contract does not name is refused when the consumer is run.
func ConsumerOf(service string, event proto.Message) Consumer {
	descriptor := event.ProtoReflect().Descriptor()
	subject, err := SubjectOf(descriptor)
	if err != nil {
		return Consumer{wrong: err}
	}
	option, _ := proto.GetExtension(descriptor.Options(), optionsv1.E_Event).(*optionsv1.Event)
	if !slices.Contains(option.GetConsumers(), service) {
		return Consumer{wrong: fmt.Errorf("bus: the contract of %s does not name %s as a consumer", descriptor.FullName(), service)}
	}
	return Consumer{Durable: DurableOf(service, subject), Stream: StreamOf(subject), Subjects: []string{subject}}
}

// DurableOf returns the name of the consumer by which a service reads a
// well-formed subject: "<service>-<resource>-<verb>".
func DurableOf(service, subject string) string {
	parts := strings.Split(subject, ".")
	return strings.Join(append([]string{service}, parts[2:]...), "-")
}

// withDefaults returns c with its zero values filled in, or what is wrong.
func (c Consumer) withDefaults() (Consumer, error) {
	if c.wrong != nil {
		return c, c.wrong
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

// delay is the wait before the try that follows the given one, counted from 1.
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
		// We count ourselves: the broker would leave a message that was delivered
		// too often where it is, seen by nobody.
		MaxDeliver:    -1,
		MaxAckPending: maxAckPending,
	}
	if len(c.Subjects) == 1 {
		// The one is then a part of the subject by which a consumer is made, so that a
		// server can hold services to what they consume.
		cfg.FilterSubjects, cfg.FilterSubject = nil, c.Subjects[0]
	}
	return cfg
}

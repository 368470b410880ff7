package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Options is what a Bus is made of. Conn, DeadLetters, Log and Registry are
// required.
type Options struct {
	Conn *nats.Conn
	// Events are the contracts that streams are derived from; nil means all that
	// are linked into the program.
	Events *protoregistry.Files
	Limits Limits
	// DeadLetters keeps the messages that consumers gave up.
	DeadLetters DeadLetters
	// Transient recognises the errors of handlers that say nothing about the message:
	// the database or a neighbour is away. Such a message is held and tried again
	// until they are back, however long that takes. nil means that there are none.
	Transient func(error) bool
	Log       *slog.Logger
	Registry  prometheus.Registerer
}

// Bus is what a service consumes events from.
type Bus struct {
	conn        *nats.Conn
	js          jetstream.JetStream
	streams     []jetstream.StreamConfig
	deadLetters DeadLetters
	transient   func(error) bool
	log         *slog.Logger
	metrics     *metrics

	mu sync.Mutex
	// consumers are those that run in this process, by name.
	consumers map[string]health
}

// New returns a Bus on a connection, which need not be established yet.
func New(opts Options) (*Bus, error) {
	if opts.Events == nil {
		opts.Events = protoregistry.GlobalFiles
	}
	if opts.Transient == nil {
		opts.Transient = func(error) bool { return false }
	}
	streams, err := Streams(opts.Events, opts.Limits)
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(opts.Conn)
	if err != nil {
		return nil, fmt.Errorf("bus: %w", err)
	}
	metrics, err := newMetrics(opts.Registry)
	if err != nil {
		return nil, fmt.Errorf("bus: register metrics: %w", err)
	}
	return &Bus{
		conn: opts.Conn, js: js, streams: streams,
		deadLetters: opts.DeadLetters, transient: opts.Transient, log: opts.Log, metrics: metrics,
		consumers: map[string]health{},
	}, nil
}

// Conn is the connection of the bus.
func (b *Bus) Conn() *nats.Conn { return b.conn }

// Permanent marks an error that no repetition mends, such as a payload that
// cannot be read: the message goes to the dead letters at once.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

type permanent struct{ error }

func (p *permanent) Unwrap() error { return p.error }

func isPermanent(err error) bool {
	var p *permanent
	return errors.As(err, &p)
}

// DeadLetter is a message that a consumer gave up.
type DeadLetter struct {
	// ID is given by the store; larger ones came later.
	ID       int64
	Consumer string
	Message  Message
	// Reason is the last error, cut to a bounded length.
	Reason string
}

// DeadLetters keeps messages that consumers gave up until they are replayed.
// Its methods are called with the context of the message's tenant, or of all
// tenants when the message has none and for ReplayRequested.
type DeadLetters interface {
	// Put keeps a letter. One for the same consumer and message is replaced.
	Put(ctx context.Context, letter DeadLetter) error
	// ReplayRequested returns letters of consumers whose replay was asked for, in order,
	// at most limit of them.
	ReplayRequested(ctx context.Context, consumers []string, limit int) ([]DeadLetter, error)
	// Remove deletes a letter.
	Remove(ctx context.Context, letter DeadLetter) error
	// ReplayFailed keeps a letter that failed once more, for the reason that it has now.
	ReplayFailed(ctx context.Context, letter DeadLetter) error

	// BeginAttempt returns how often a message that comes again has failed, and how often
	// it was begun without an end; it counts one more beginning if asked to. The
	// broker's count of deliveries says neither: a process that dies takes all
	// messages with it that it was given, handled or not.
	BeginAttempt(ctx context.Context, consumer string, m Message, count bool) (failed, begun int, err error)
	// FailAttempt notes that a message has failed, and returns how often it has.
	FailAttempt(ctx context.Context, consumer string, m Message) (failed int, err error)
	// ClearAttempts removes what BeginAttempt and FailAttempt noted of a message.
	ClearAttempts(ctx context.Context, consumer string, m Message) error
}

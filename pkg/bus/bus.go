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

	"github.com/rotaloom/rotaloom/pkg/tenantclock"
)

// Options holds the dependencies of a Bus. Conn, DeadLetters, Log and Registry are required.
type Options struct {
	Conn *nats.Conn
	// Events are the contracts for deriving the streams; nil means all contracts that are
	// linked into the program.
	Events *protoregistry.Files
	Limits Limits
	// DeadLetters stores the messages that consumers gave up on.
	DeadLetters DeadLetters
	// Transient recognises errors of handlers that have nothing to do with the message: the
	// database or another service is unavailable. The bus holds such a message and retries until
	// they are available again, however long that takes. nil means that no error is transient.
	Transient func(error) bool
	// Clocks sets the clock of the tenant in the contexts of handlers. nil means the real time.
	Clocks   *tenantclock.Clocks
	Log      *slog.Logger
	Registry prometheus.Registerer
}

// Bus lets a service consume events.
type Bus struct {
	conn        *nats.Conn
	js          jetstream.JetStream
	streams     []jetstream.StreamConfig
	deadLetters DeadLetters
	transient   func(error) bool
	clocks      *tenantclock.Clocks
	log         *slog.Logger
	metrics     *metrics

	mu sync.Mutex
	// consumers holds the health of the consumers of this process, by name.
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
		deadLetters: opts.DeadLetters, transient: opts.Transient, clocks: opts.Clocks, log: opts.Log, metrics: metrics,
		consumers: map[string]health{},
	}, nil
}

// Conn returns the connection of the bus.
func (b *Bus) Conn() *nats.Conn { return b.conn }

// Permanent marks an error that a retry cannot fix, such as an unreadable payload: the message
// becomes a dead letter at once.
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

// DeadLetter is a message that a consumer gave up on.
type DeadLetter struct {
	// ID is assigned by the store; later letters have larger ids.
	ID       int64
	Consumer string
	Message  Message
	// Reason is the last error, truncated to maxReason bytes.
	Reason string
}

// DeadLetters stores the messages that consumers gave up on until they are replayed. The context of
// a method has the message's tenant; it has all tenants if the message has none, and for
// ReplayRequested.
type DeadLetters interface {
	// Put stores a letter. It replaces a letter for the same consumer and message.
	Put(ctx context.Context, letter DeadLetter) error
	// ReplayRequested returns letters of the consumers with a requested replay, in order, at most
	// limit of them.
	ReplayRequested(ctx context.Context, consumers []string, limit int) ([]DeadLetter, error)
	// Remove deletes a letter.
	Remove(ctx context.Context, letter DeadLetter) error
	// ReplayFailed stores the new reason of a letter whose replay failed.
	ReplayFailed(ctx context.Context, letter DeadLetter) error

	// BeginAttempt returns how often a redelivered message has failed, and how often handling it
	// began without ending. If count is set, it counts one more beginning. The broker's delivery
	// count tells neither: if a process dies, every message in its hands is redelivered, whether
	// handling it had begun or not.
	BeginAttempt(ctx context.Context, consumer string, m Message, count bool) (failed, begun int, err error)
	// FailAttempt records a failure of a message, and returns the number of its failures.
	FailAttempt(ctx context.Context, consumer string, m Message) (failed int, err error)
	// ClearAttempts removes the records of BeginAttempt and FailAttempt.
	ClearAttempts(ctx context.Context, consumer string, m Message) error
}

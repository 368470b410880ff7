// Package delivery delivers messages to e-mail addresses and webhooks. It stores them first, retries for days
// with growing pauses, and keeps a log that can be read and replayed. Any number of processes share the work.
package delivery

import (
	"context"
	"time"

	"github.com/google/uuid"

	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Channels.
const (
	Email   = "EMAIL"
	Webhook = "WEBHOOK"
)

// States.
const (
	Pending    = "PENDING"
	Delivered  = "DELIVERED"
	Failed     = "FAILED"
	Suppressed = "SUPPRESSED"
)

// Config contains the limits of deliveries. Zero values mean the defaults.
type Config struct {
	Concurrency int           `default:"16" help:"Number of delivery attempts that a process runs at a time. A tenant can use half of them."`
	RetryFirst  time.Duration `default:"30s" help:"Pause after the first failed attempt of a delivery. It doubles with each failed attempt."`
	RetryMax    time.Duration `default:"6h" help:"Longest pause between attempts of a delivery."`
	GiveUpAfter time.Duration `default:"72h" help:"How long a delivery is retried."`
	Keep        time.Duration `default:"720h" help:"How long the log keeps settled deliveries."`
	PollEvery   time.Duration `default:"1s" help:"How often the process looks for due deliveries."`
	Lease       time.Duration `default:"2m" help:"How long an attempt may take before it counts as dead and is repeated."`
}

// Delivery is a message to one address or webhook.
type Delivery struct {
	Tenant, ID int64
	// UID identifies the delivery for its recipient, in all attempts.
	UID, Message     uuid.UUID
	NotificationID   int64
	NotificationName string
	Channel, State   string
	// PersonID is 0 if the message is not for a person, and WebhookID is 0 for an e-mail.
	PersonID     int64
	PersonNumber string
	WebhookID    int64
	Address      string
	Content      *platformv1.DeliveryContent
	// Fingerprint identifies repetitions of a message, and Until is the time until which they are suppressed.
	// Without Until, none is suppressed.
	Fingerprint []byte
	Until       time.Time

	Attempts                int
	NextAttemptAt, GiveUpAt time.Time
	Error                   string
	CreatedAt               time.Time
	SettledAt               *time.Time
}

// Transport sends a delivery to its recipient, and returns the other side's response. An error that is not an
// *Error is temporary.
type Transport interface {
	Send(ctx context.Context, d *Delivery) (result string, err error)
}

// Error is a failure with details.
type Error struct {
	// Permanent means that further attempts would fail too.
	Permanent bool
	// RetryAfter is the pause that the other side requests, or 0.
	RetryAfter time.Duration
	// Conceal is how long after the beginning of the attempt its failure stays hidden, because the time until a
	// connection fails reveals information about its address.
	Conceal time.Duration
	// Message is for the tenant, and Cause for the log of the process; Cause may be nil.
	Message string
	Cause   error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Refused returns a permanent error.
func Refused(message string) error { return &Error{Permanent: true, Message: message} }

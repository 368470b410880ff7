// Package delivery brings messages to e-mail addresses and webhooks: it stores them
// first, tries for days with growing pauses, and keeps a log that can be read and
// replayed. Any number of processes share the work.
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

// Config bounds how long and how often is tried. Zero values mean the defaults.
type Config struct {
	Concurrency int           `default:"16" help:"Deliveries of messages that a process tries at the same time, of which a tenant has half."`
	RetryFirst  time.Duration `default:"30s" help:"Pause after the first attempt of a delivery that failed. It doubles with each."`
	RetryMax    time.Duration `default:"6h" help:"Longest pause between attempts of a delivery."`
	GiveUpAfter time.Duration `default:"72h" help:"How long a delivery is tried."`
	Keep        time.Duration `default:"720h" help:"How long the log keeps deliveries that are settled."`
	PollEvery   time.Duration `default:"1s" help:"How often deliveries that are due are looked for."`
	Lease       time.Duration `default:"2m" help:"When an attempt is taken for dead, and another one made."`
}

// Delivery is a message on its way to one address or webhook.
type Delivery struct {
	Tenant, ID int64
	// UID is what the recipient knows the delivery by, each time that it comes.
	UID, Message     uuid.UUID
	NotificationID   int64
	NotificationName string
	Channel, State   string
	// PersonID is 0 where it is for no person, and WebhookID for an e-mail.
	PersonID     int64
	PersonNumber string
	WebhookID    int64
	Address      string
	Content      *platformv1.DeliveryContent
	// Fingerprint distinguishes repetitions from other messages, and Until how long they are
	// suppressed. Without Until none are.
	Fingerprint []byte
	Until       time.Time

	Attempts                int
	NextAttemptAt, GiveUpAt time.Time
	Error                   string
	CreatedAt               time.Time
	SettledAt               *time.Time
}

// Transport brings a delivery to its recipient, and returns what the other side said.
// An error that is no *Error is one of the moment.
type Transport interface {
	Send(ctx context.Context, d *Delivery) (result string, err error)
}

// Error is a failure about which more is known.
type Error struct {
	// Permanent says that further attempts would fail alike.
	Permanent bool
	// RetryAfter is how long the other side asks to wait; 0 when it does not say.
	RetryAfter time.Duration
	// Conceal is how long after the beginning of the attempt nobody learns that it failed:
	// how soon a connection fails tells what is at its address.
	Conceal time.Duration
	// Message is for the tenant, and Cause for the log of the process; nil when there is
	// no more to say.
	Message string
	Cause   error
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Refused is an error that further attempts would have alike.
func Refused(message string) error { return &Error{Permanent: true, Message: message} }

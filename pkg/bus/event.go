package bus

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/obs"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Headers of a published event.
const (
	// HeaderID is the id of the event; the broker drops a second message with the same id.
	HeaderID = nats.MsgIdHdr
	// HeaderTenant is the tenant, in decimal.
	HeaderTenant = "Rotaloom-Tenant"
	// HeaderEvent is the full name of the message type in the payload.
	HeaderEvent = "Rotaloom-Event"
	// HeaderRequest is the id of the request that caused the event, if any.
	HeaderRequest = "Rotaloom-Request"
	// HeaderTraceparent is the trace context of that request, if any.
	HeaderTraceparent = "Traceparent"
)

// Message is a received event.
type Message struct {
	// ID is the same for every delivery of one event.
	ID     string
	Tenant int64
	// Subject is the subject of publication, and Event the message type of Payload.
	Subject string
	Event   string
	Payload []byte
	// Request is the request that caused the event, or zero.
	Request obs.Request
	// Delivery counts the deliveries of the message to this consumer, from 1, including deliveries
	// to processes that died.
	Delivery int
	// Attempt counts the attempts of the handler, from 1: one more than its failures.
	Attempt int
	// Published is when the broker stored the event, in UTC.
	Published time.Time
}

// Decode returns the event in m as a T, which is a pointer to a generated message. If m holds
// another event or cannot be read, the error is permanent.
func Decode[T proto.Message](m Message) (T, error) {
	var zero T
	descriptor := zero.ProtoReflect()
	if want := descriptor.Descriptor().FullName(); m.Event != string(want) {
		return zero, Permanent(fmt.Errorf("bus: event %s is a %s, not a %s", m.ID, m.Event, want))
	}
	event := descriptor.Type().New().Interface()
	if err := proto.Unmarshal(m.Payload, event); err != nil {
		return zero, Permanent(fmt.Errorf("bus: read event %s: %w", m.ID, err))
	}
	return event.(T), nil
}

var subjectForm = regexp.MustCompile(`^rotaloom(\.[a-z][a-z0-9_]*){3}$`)

// EventSubject returns the subject of an event type. It fails for messages that are not events, and
// for a subject that is not of the form "rotaloom.<domain>.<resource>.<verb>".
func EventSubject(event protoreflect.MessageDescriptor) (string, error) {
	option, _ := proto.GetExtension(event.Options(), optionsv1.E_Event).(*optionsv1.Event)
	subject := option.GetSubject()
	if subject == "" {
		return "", fmt.Errorf("bus: %s is not an event: it has no subject", event.FullName())
	}
	if !subjectForm.MatchString(subject) {
		return "", fmt.Errorf("bus: %s has the malformed subject %q", event.FullName(), subject)
	}
	return subject, nil
}

// StreamName returns the name of the stream of a well-formed subject: its domain in capitals.
func StreamName(subject string) string {
	_, rest, _ := strings.Cut(subject, ".")
	domain, _, _ := strings.Cut(rest, ".")
	return strings.ToUpper(domain)
}

// readHeaders fills in the fields from the headers of a message. It fails without a tenant: no
// tenant could see the message.
func (m *Message) readHeaders(h nats.Header) error {
	m.ID, m.Event = h.Get(HeaderID), h.Get(HeaderEvent)
	m.Request = obs.Request{ID: h.Get(HeaderRequest), Traceparent: h.Get(HeaderTraceparent)}
	tenant, err := strconv.ParseInt(h.Get(HeaderTenant), 10, 64)
	if err != nil || tenant <= 0 {
		return fmt.Errorf("bus: message on %s has no tenant", m.Subject)
	}
	m.Tenant = tenant
	return nil
}

package messaging

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/delivery"
	"github.com/rotaloom/rotaloom/services/platform/internal/genericnotification"
)

const (
	maxValues = 100
	maxValue  = 4000
	maxName   = 100
	// maxEvent is the largest number of generic notifications of one event.
	maxEvent = 20
)

// NotifyByID sends a generic notification.
func (h *Handler) NotifyByID(ctx context.Context, req *platformv1.NotifyByIDRequest) (*platformv1.NotifyResponse, error) {
	n, err := h.notification(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	body := req.GetBody()
	return h.notify(ctx, []*platformv1.GenericNotification{n}, body, body.GetNotifyData(), body.GetUrlParams())
}

// Notify sends the generic notifications of an event.
func (h *Handler) Notify(ctx context.Context, req *platformv1.NotifyRequest) (*platformv1.NotifyResponse, error) {
	if req.GetDomain() == "" || req.GetEvent() == "" {
		return nil, fault.Invalid(CodeMissing, "domain and event are required. They select the generic notifications to send.")
	}
	list, err := genericnotification.OfEvent(ctx, h.deps.Pool, req.GetDomain(), req.GetEvent(), maxEvent+1)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, fault.Invalid(CodeUnknown, fmt.Sprintf("There is no generic notification for the domain %.100q and the event %.100q.", req.GetDomain(), req.GetEvent()))
	case len(list) > maxEvent:
		return nil, fault.TooLarge(fault.CodeItemLimit, fmt.Sprintf("The event has more than %d generic notifications; at most %d can be sent in one request.", maxEvent, maxEvent))
	}
	return h.notify(ctx, list, req, req.GetNotifyData(), req.GetUrlParams(), req.GetEventData())
}

// notify stores all messages of a request, or none.
func (h *Handler) notify(ctx context.Context, list []*platformv1.GenericNotification, to recipients, data ...*structpb.Struct) (*platformv1.NotifyResponse, error) {
	values, err := placeholderValues(data)
	if err != nil {
		return nil, err
	}
	resolved, err := h.resolve(ctx, to, list)
	if err != nil {
		return nil, err
	}
	hooks, err := h.hooks(ctx)
	if err != nil {
		return nil, err
	}
	now, out := h.deps.Clock.Now(), &platformv1.NotifyResponse{}
	var messages []*message
	left := maxSent
	for _, n := range list {
		m := &message{
			remainingBytes: &left,
			notification:   n, values: values, now: now, giveUpAt: h.deps.Sender.GiveUpAt(),
			until: suppressUntil(n, clock.OfTenant(ctx, now), h.deps.Zone), preferences: acceptlanguage.From(ctx),
		}
		if err := m.write(resolved, hooks); err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	err = pg.InTx(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		out.Messages = nil
		for _, m := range messages {
			// The transaction may run more than once.
			deliveries := make([]*delivery.Delivery, len(m.deliveries))
			for i, d := range m.deliveries {
				c := *d
				deliveries[i] = &c
			}
			if err := delivery.Append(ctx, tx, now, deliveries); err != nil {
				return err
			}
			out.Messages = append(out.Messages, m.summary(deliveries))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	h.deps.Sender.Wake()
	return out, nil
}

// summary returns the result of a message for the response.
func (m *message) summary(list []*delivery.Delivery) *platformv1.Message {
	var pending, suppressed, failed int32
	for _, d := range list {
		switch d.State {
		case delivery.Pending:
			pending++
		case delivery.Suppressed:
			suppressed++
		default:
			failed++
		}
	}
	return &platformv1.Message{
		MessageId: m.id.String(), Notification: &commonv1.Ref{Id: m.notification.Id, Qualifier: proto.String(m.notification.GetName())},
		Pending: &pending, Suppressed: &suppressed, Failed: &failed,
	}
}

// suppressUntil returns the time until which repetitions of a message are suppressed, or the zero time if they
// are not.
func suppressUntil(n *platformv1.GenericNotification, now time.Time, zone *time.Location) time.Time {
	length, _ := genericnotification.Interval(n) // It was validated when it was stored.
	switch n.GetResendTypes() {
	case genericnotification.ResendEvery:
		return now.Add(length)
	case genericnotification.ResendEachDay:
		local := now.In(zone)
		for day := local.Day(); ; day++ {
			begins := time.Date(local.Year(), local.Month(), day, int(length.Hours()), int(length.Minutes())%60, 0, 0, zone)
			if begins.After(now) {
				return begins
			}
		}
	}
	return time.Time{}
}

// maxExact is the largest number whose neighbours a number of JSON can tell apart.
const maxExact = 1<<53 - 1

// placeholderValues returns the values of placeholders in a request. If a name occurs several times, the first
// value is used.
func placeholderValues(data []*structpb.Struct) (map[string]string, error) {
	values := map[string]string{}
	for _, fields := range data {
		for name, value := range fields.GetFields() {
			var text string
			switch kind := value.GetKind().(type) {
			case *structpb.Value_StringValue:
				text = kind.StringValue
			case *structpb.Value_NumberValue:
				if math.Abs(kind.NumberValue) > maxExact {
					return nil, fault.Invalid(CodeInvalid, fmt.Sprintf("The value of %.100q is a number above %d, of which JSON programs lose digits. Send it as text.", name, int64(maxExact)))
				}
				text = strconv.FormatFloat(kind.NumberValue, 'f', -1, 64)
			case *structpb.Value_BoolValue:
				text = strconv.FormatBool(kind.BoolValue)
			case *structpb.Value_NullValue:
			default:
				return nil, fault.Invalid(CodeInvalid, fmt.Sprintf("The value of %.100q must be text, a number, true or false.", name))
			}
			if len(name) > maxName || len(text) > maxValue || strings.ContainsRune(text, 0) {
				return nil, fault.Invalid(CodeInvalid, fmt.Sprintf("The value of %.100q must have at most %d bytes, without the character U+0000, and its name at most %d bytes.", name, maxValue, maxName))
			}
			if _, known := values[name]; !known {
				values[name] = text
			}
		}
	}
	if len(values) > maxValues {
		return nil, fault.TooLarge(fault.CodeItemLimit, fmt.Sprintf("There are %d values; at most %d are permitted.", len(values), maxValues))
	}
	return values, nil
}

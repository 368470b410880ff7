package messaging

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/delivery"
)

const defaultPage = 100

var states = []string{delivery.Pending, delivery.Delivered, delivery.Failed, delivery.Suppressed}

// MultiReadDeliveries returns a page of the log: deliveries to persons that the caller sees and, for callers
// who see all employees, also deliveries to addresses and webhooks.
func (h *Handler) MultiReadDeliveries(ctx context.Context, req *platformv1.MultiReadDeliveriesRequest) (*platformv1.DeliveryPage, error) {
	q, err := parseQuery(req)
	if err != nil {
		return nil, err
	}
	if q.Visible, err = h.deps.Rules.Visible(ctx); err != nil {
		return nil, err
	}
	size := q.Limit
	q.Limit++
	list, err := delivery.Read(ctx, h.deps.Pool, q, false)
	if err != nil {
		return nil, err
	}
	out := &platformv1.DeliveryPage{}
	if len(list) > size {
		list = list[:size]
		out.Next = proto.Int64(list[size-1].ID)
	}
	out.Deliveries = deliveriesToProto(list)
	return out, nil
}

func parseQuery(req *platformv1.MultiReadDeliveriesRequest) (delivery.Query, error) {
	where := req.GetWhere()
	q := delivery.Query{State: strings.ToUpper(where.GetState()), Before: req.After, Limit: defaultPage}
	if where != nil {
		q.NotificationID = where.NotificationId
	}
	if q.State != "" && !slices.Contains(states, q.State) {
		return q, fault.Invalid(CodeInvalid, suggest.NotOneOf("where.state", where.GetState(), states...))
	}
	if text := where.GetMessageId(); text != "" {
		id, err := uuid.Parse(text)
		if err != nil {
			return q, fault.Invalid(CodeInvalid, "where.messageId must be the UUID of a message.")
		}
		q.Message = &id
	}
	if number := where.GetPersonNumber(); number != "" {
		if strings.ContainsRune(number, 0) {
			return q, fault.Invalid(CodeInvalid, "where.personNumber must not have control characters.")
		}
		q.PersonNumber = &number
	}
	if req.Count != nil {
		q.Limit = int(req.GetCount())
	}
	return q, nil
}

// GetDelivery returns one delivery with its attempts, or 404.
func (h *Handler) GetDelivery(ctx context.Context, req *platformv1.GetDeliveryRequest) (*platformv1.Delivery, error) {
	visible, err := h.deps.Rules.Visible(ctx)
	if err != nil {
		return nil, err
	}
	list, err := delivery.Read(ctx, h.deps.Pool, delivery.Query{IDs: []int64{req.GetId()}, Limit: 1, Visible: visible}, false)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fault.NotFound(CodeUnknownDelivery, fmt.Sprintf("There is no delivery with the id %d.", req.GetId()))
	}
	tried, err := delivery.Attempts(ctx, h.deps.Pool, req.GetId())
	if err != nil {
		return nil, err
	}
	out := deliveryToProto(list[0])
	for _, a := range tried {
		out.AttemptLog = append(out.AttemptLog, &platformv1.DeliveryAttempt{
			Number: int32(a.Number), StartDateTime: wireTime(a.Started), EndDateTime: wireTime(a.Ended), Delivered: a.Delivered, Result: a.Result,
		})
	}
	return out, nil
}

// ReplayDeliveries sends all of the deliveries again, or none. Pending deliveries stay unchanged; the Sender
// attempts them soon.
func (h *Handler) ReplayDeliveries(ctx context.Context, req *platformv1.ReplayDeliveriesRequest) (*platformv1.DeliveryPage, error) {
	if len(req.GetIds()) == 0 {
		return nil, fault.Invalid(CodeMissing, "ids is missing. Name the deliveries to send again.")
	}
	visible, err := h.deps.Rules.Visible(ctx)
	if err != nil {
		return nil, err
	}
	q := delivery.Query{IDs: req.GetIds(), Limit: len(req.GetIds()), Visible: visible}
	out := &platformv1.DeliveryPage{}
	err = pg.InTx(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		found, err := delivery.Read(ctx, tx, q, true)
		if err != nil {
			return err
		}
		for _, id := range req.GetIds() {
			i := slices.IndexFunc(found, func(d *delivery.Delivery) bool { return d.ID == id })
			if i < 0 {
				return fault.Invalid(CodeUnknownDelivery, fmt.Sprintf("There is no delivery with the id %d.", id))
			}
			if d := found[i]; d.Channel == delivery.Email && d.Address == "" {
				return fault.Invalid(CodeInvalid, fmt.Sprintf("The delivery %d has no address. Add an address to the person, and send the generic notification again.", id))
			}
		}
		if err := delivery.Replay(ctx, tx, req.GetIds(), h.deps.Clock.Now(), h.deps.Sender.GiveUpAt()); err != nil {
			return err
		}
		again, err := delivery.Read(ctx, tx, q, false)
		out.Deliveries = deliveriesToProto(again)
		return err
	})
	if err != nil {
		return nil, err
	}
	h.deps.Sender.Wake()
	return out, nil
}

func deliveriesToProto(list []*delivery.Delivery) (out []*platformv1.Delivery) {
	for _, d := range list {
		out = append(out, deliveryToProto(d))
	}
	return out
}

func deliveryToProto(d *delivery.Delivery) *platformv1.Delivery {
	out := &platformv1.Delivery{
		Id: d.ID, DeliveryId: d.UID.String(), MessageId: d.Message.String(),
		Notification: &commonv1.Ref{Id: proto.Int64(d.NotificationID), Qualifier: proto.String(d.NotificationName)},
		Channel:      d.Channel, State: d.State, Address: d.Address, Subject: d.Content.GetSubject(),
		Attempts: proto.Int32(int32(d.Attempts)), CreatedDateTime: wireTime(d.CreatedAt), Error: d.Error,
	}
	if d.PersonID != 0 {
		out.Recipient = &commonv1.Ref{Id: proto.Int64(d.PersonID), Qualifier: proto.String(d.PersonNumber)}
	}
	if d.State == delivery.Pending {
		out.NextAttemptDateTime = wireTime(d.NextAttemptAt)
	}
	if d.SettledAt != nil {
		out.SettledDateTime = wireTime(*d.SettledAt)
	}
	return out
}

// wireTime formats a time for the log, in UTC.
func wireTime(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000") }

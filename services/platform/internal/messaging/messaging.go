// Package messaging sends messages to people: it determines the recipients, renders the texts, and passes the
// messages to package delivery.
package messaging

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/setup"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/delivery"
	"github.com/rotaloom/rotaloom/services/platform/internal/genericnotification"
)

// Codes of the reference product, which does not document the last two.
const (
	// CodeUnknown (400): there is no such generic notification, or the event has none.
	CodeUnknown = "CONTROL_CENTER-10001"
	// CodeNoRecipients (400): the request names no recipients, and the generic notification has none.
	CodeNoRecipients = "CONTROL_CENTER-10005"
	// CodeUnknownRecipient (400): there is no such person, or the caller must not see the person, or an address
	// is invalid.
	CodeUnknownRecipient = "CONTROL_CENTER-10006"
)

// Codes of this product.
const (
	// CodeInvalid (400): the value of a property is invalid.
	CodeInvalid = "WRL-60601"
	// CodeMissing (400): a placeholder has no value, or another required value is missing.
	CodeMissing = "WRL-60602"
	// CodeUnknownDelivery (400, 404): there is no such delivery, or the caller must not see it.
	CodeUnknownDelivery = "WRL-60603"
)

// Deps are the dependencies of the handler.
type Deps struct {
	Pool *pg.Pool
	// Contacts finds the addresses of persons.
	Contacts commonsv1.ContactServiceClient
	// Rules determine the visible employees of callers.
	Rules  *rowvisibility.Rules
	Sender *delivery.Sender
	Clock  clock.Clock
	// Zone determines the beginning of the day for tenants.
	Zone *time.Location
}

// Handler serves MessagingService.
type Handler struct {
	platformv1.UnsafeMessagingServiceServer
	deps          Deps
	notifications *setup.Kind[*platformv1.GenericNotification]
}

var _ platformv1.MessagingServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(deps Deps) *Handler {
	return &Handler{deps: deps, notifications: genericnotification.Kind()}
}

// ListMessagingNotifications returns all generic notifications, sorted by name, or the one with a given name if
// it exists.
func (h *Handler) ListMessagingNotifications(ctx context.Context, req *platformv1.ListMessagingNotificationsRequest) (*platformv1.MessagingNotificationList, error) {
	list, err := h.notifications.List(ctx, h.deps.Pool, req.Name)
	if err != nil {
		return nil, err
	}
	out := &platformv1.MessagingNotificationList{}
	preferences, language := acceptlanguage.From(ctx), ""
	for _, n := range list {
		shown, tag := show(n, preferences)
		out.Items, language = append(out.Items, shown), cmp.Or(language, tag)
	}
	return out, acceptlanguage.SetContentLanguage(ctx, language)
}

// GetMessagingNotification returns one generic notification, or 400.
func (h *Handler) GetMessagingNotification(ctx context.Context, req *platformv1.GetMessagingNotificationRequest) (*platformv1.MessagingNotification, error) {
	n, err := h.notification(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	out, tag := show(n, acceptlanguage.From(ctx))
	return out, acceptlanguage.SetContentLanguage(ctx, tag)
}

func (h *Handler) notification(ctx context.Context, id int64) (*platformv1.GenericNotification, error) {
	n, err := h.notifications.Get(ctx, h.deps.Pool, id)
	if fault.HasCode(err, genericnotification.CodeUnknown) {
		return nil, fault.Invalid(CodeUnknown, fmt.Sprintf("There is no generic notification with the id %d.", id))
	}
	return n, err
}

// show returns a notification in the form of messaging, and the language of its texts.
func show(n *platformv1.GenericNotification, preferences acceptlanguage.Preferences) (*platformv1.MessagingNotification, string) {
	texts := genericnotification.In(n, preferences)
	return &platformv1.MessagingNotification{
		Id: n.GetId(), Name: texts.GetName(), Description: texts.GetDescription(),
		SubjectTemplate: texts.GetSubject(), MessageTemplate: texts.GetLongMessage(), SmsMessageTemplate: texts.GetShortMessage(),
		RecipientListWillBeSuppliedAtRuntime: n.RecipientListWillBeSuppliedAtRuntime,
		SendToEmployee:                       n.SendToEmployee, SendToEmployeesManager: n.SendToEmployeesManager,
		SendToEmployeesAttendanceAdministrator: n.SendToEmployeesAttendanceAdministrator,
		SendToEmployeesLeaveAdministrator:      n.SendToEmployeesLeaveAdministrator,
	}, texts.GetLanguage()
}

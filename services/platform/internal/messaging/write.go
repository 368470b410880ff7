package messaging

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/text/language"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/emailaddress"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/delivery"
	"github.com/rotaloom/rotaloom/services/platform/internal/genericnotification"
)

// message is one sending of one generic notification.
type message struct {
	id           uuid.UUID
	notification *platformv1.GenericNotification
	values       map[string]string
	// preferences are the languages of those who have none of their own.
	preferences acceptlanguage.Preferences
	now         time.Time
	// until is how long repetitions are suppressed, and giveUpAt how long is tried.
	until, giveUpAt time.Time
	deliveries      []*delivery.Delivery
	// written are the addresses that have a delivery.
	written map[string]bool
	// remainingBytes is how many bytes the texts of the request may still have.
	remainingBytes *int
}

// write writes the deliveries of a message. Nobody gets it twice.
func (m *message) write(to *resolved, hooks []*platformv1.Webhook) (err error) {
	if m.id, err = delivery.NewUID(); err != nil {
		return fmt.Errorf("name a message: %w", err)
	}
	m.written = map[string]bool{}
	n, names := m.notification, namesOf(to.employees)
	if n.GetSendToEmployee() || n.GetRecipientListWillBeSuppliedAtRuntime() {
		for _, e := range to.employees {
			if err := m.writeTo(e, names); err != nil {
				return err
			}
		}
	}
	if n.GetSendToEmployeesManager() {
		for _, id := range slices.Sorted(maps.Keys(to.managers)) {
			staff := slices.DeleteFunc(slices.Clone(to.employees), func(e *commonsv1.Contact) bool { return e.GetManagerId() != id })
			if err := m.writeTo(to.managers[id], namesOf(staff)); err != nil {
				return err
			}
		}
	}
	fixed, err := genericnotification.Addresses(n.GetEmailRecipients())
	if err != nil {
		return err
	}
	for _, address := range append(fixed, to.addresses...) {
		if err := m.mail(nil, address, names); err != nil {
			return err
		}
	}
	if err := m.call(hooks, to.employees, names); err != nil {
		return err
	}
	if len(m.deliveries) == 0 {
		return fault.Invalid(CodeNoRecipients, fmt.Sprintf("Nobody gets %.100q: name recipients, and see whom the generic notification sends to.", n.GetName()))
	}
	return nil
}

// namesOf are the names of persons, as a text has them.
func namesOf(persons []*commonsv1.Contact) string {
	var names []string
	for _, p := range persons {
		names = append(names, p.GetFullName())
	}
	return strings.Join(names, "; ")
}

// writeTo writes a message to a person, to each of their addresses. Who has none stands
// in the log as somebody who got nothing.
func (m *message) writeTo(person *commonsv1.Contact, employees string) error {
	if len(person.GetAddresses()) == 0 {
		d, err := m.delivery(delivery.Email)
		if err != nil {
			return err
		}
		d.State, d.Error = delivery.Failed, "The person has no e-mail address for notifications."
		d.PersonID, d.PersonNumber = person.GetPersonId(), person.GetPersonNumber()
		m.deliveries = append(m.deliveries, d)
		return nil
	}
	for _, address := range person.GetAddresses() {
		if err := m.mail(person, address, employees); err != nil {
			return err
		}
	}
	return nil
}

// mail writes an e-mail, unless one goes to the address already.
func (m *message) mail(person *commonsv1.Contact, address, employees string) error {
	key := strings.ToLower(address)
	if m.written[key] {
		return nil
	}
	m.written[key] = true
	preferences := m.preferences
	if tag, err := language.Parse(strings.ReplaceAll(person.GetLocale(), "_", "-")); err == nil && person.GetLocale() != "" {
		preferences = acceptlanguage.Preferences{tag}
	}
	texts, err := m.render(preferences, map[string]string{
		"recipient.fullName": cmp.Or(person.GetFullName(), address), "recipient.personNumber": person.GetPersonNumber(), "employee.fullName": employees,
	})
	if err != nil {
		return err
	}
	d, err := m.delivery(delivery.Email)
	if err != nil {
		return err
	}
	d.PersonID, d.PersonNumber, d.Address = person.GetPersonId(), person.GetPersonNumber(), address
	d.Content = &platformv1.DeliveryContent{Subject: texts.subject(), Text: texts.text(), Priority: m.notification.GetPriority()}
	if !emailaddress.Valid(address) {
		d.State, d.Error = delivery.Failed, "The address of the person is no e-mail address."
	}
	return m.add(d, key, d.Content.GetSubject(), d.Content.GetText())
}

// call writes what webhooks get.
func (m *message) call(hooks []*platformv1.Webhook, persons []*commonsv1.Contact, employees string) error {
	for _, w := range hooks {
		if !subscribesTo(w, m.notification.GetId()) {
			continue
		}
		texts, err := m.render(m.preferences, map[string]string{"recipient.fullName": w.GetName(), "recipient.personNumber": "", "employee.fullName": employees})
		if err != nil {
			return err
		}
		data := m.event(texts, persons)
		said, err := json.Marshal(data)
		if err != nil {
			return fmt.Errorf("write what a webhook gets: %w", err)
		}
		data.MessageID = m.id.String()
		payload, err := json.Marshal(event{Type: "notification.sent", Timestamp: m.now.UTC().Format(time.RFC3339), Data: data})
		if err != nil {
			return fmt.Errorf("write what a webhook gets: %w", err)
		}
		d, err := m.delivery(delivery.Webhook)
		if err != nil {
			return err
		}
		d.WebhookID, d.Address = w.GetId(), w.GetUrl()
		d.Content = &platformv1.DeliveryContent{Subject: texts.subject(), Payload: payload}
		if err := m.add(d, fmt.Sprint("webhook ", w.GetId()), string(said)); err != nil {
			return err
		}
	}
	return nil
}

func subscribesTo(w *platformv1.Webhook, id int64) bool {
	if len(w.GetNotifications()) == 0 {
		return true
	}
	for _, ref := range w.GetNotifications() {
		if ref.GetId() == id {
			return true
		}
	}
	return false
}

// delivery makes one without a recipient.
func (m *message) delivery(channel string) (*delivery.Delivery, error) {
	uid, err := delivery.NewUID()
	if err != nil {
		return nil, fmt.Errorf("name a delivery: %w", err)
	}
	return &delivery.Delivery{
		UID: uid, Message: m.id, NotificationID: m.notification.GetId(), NotificationName: m.notification.GetName(),
		Channel: channel, State: delivery.Pending, Content: &platformv1.DeliveryContent{}, GiveUpAt: m.giveUpAt,
	}, nil
}

// maxSent bounds all texts of a request, in bytes. A request of some lines could
// otherwise have as many texts as there are recipients written, all at once.
const maxSent = 32 << 20

// add adds a delivery, with what reports whether another one says the same.
func (m *message) add(d *delivery.Delivery, said ...string) error {
	if *m.remainingBytes -= proto.Size(d.Content); *m.remainingBytes < 0 {
		return fault.TooLarge(fault.CodeItemLimit,
			fmt.Sprintf("The messages to all recipients have more than %d bytes. Name fewer recipients, or give shorter values.", maxSent))
	}
	if !m.until.IsZero() {
		hash := sha256.New()
		for _, part := range append([]string{fmt.Sprint(m.notification.GetId())}, said...) {
			hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			hash.Write([]byte(part))
		}
		d.Fingerprint, d.Until = hash.Sum(nil), m.until
	}
	m.deliveries = append(m.deliveries, d)
	return nil
}

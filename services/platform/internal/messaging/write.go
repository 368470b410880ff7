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

// message is the sending of one generic notification.
type message struct {
	id           uuid.UUID
	notification *platformv1.GenericNotification
	values       map[string]string
	// preferences are the languages for recipients without a language of their own.
	preferences acceptlanguage.Preferences
	now         time.Time
	// until is the time until which repetitions are suppressed, and giveUpAt the end of the retry time.
	until, giveUpAt time.Time
	deliveries      []*delivery.Delivery
	// written contains the addresses that have a delivery.
	written map[string]bool
	// remainingBytes is the number of bytes that the remaining texts of the request may have.
	remainingBytes *int
}

// write writes the deliveries of a message. Each address gets one at most.
func (m *message) write(to *resolved, hooks []*platformv1.Webhook) (err error) {
	if m.id, err = delivery.NewUID(); err != nil {
		return fmt.Errorf("name a message: %w", err)
	}
	m.written = map[string]bool{}
	n, names := m.notification, joinNames(to.employees)
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
			if err := m.writeTo(to.managers[id], joinNames(staff)); err != nil {
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
		return fault.Invalid(CodeNoRecipients, fmt.Sprintf("%.100q has no recipients. Name recipients, or check the recipients of the generic notification.", n.GetName()))
	}
	return nil
}

// joinNames returns the names of persons as they appear in a text.
func joinNames(persons []*commonsv1.Contact) string {
	var names []string
	for _, p := range persons {
		names = append(names, p.GetFullName())
	}
	return strings.Join(names, "; ")
}

// writeTo writes a message to all addresses of a person. For a person without an address, it writes a failed
// delivery into the log.
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

// mail writes an e-mail, unless the address already gets one.
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
		d.State, d.Error = delivery.Failed, "The address of the person is not a valid e-mail address."
	}
	return m.add(d, key, d.Content.GetSubject(), d.Content.GetText())
}

// call writes the deliveries to webhooks.
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
		content, err := json.Marshal(data)
		if err != nil {
			return fmt.Errorf("encode the body for a webhook: %w", err)
		}
		data.MessageID = m.id.String()
		payload, err := json.Marshal(event{Type: "notification.sent", Timestamp: m.now.UTC().Format(time.RFC3339), Data: data})
		if err != nil {
			return fmt.Errorf("encode the body for a webhook: %w", err)
		}
		d, err := m.delivery(delivery.Webhook)
		if err != nil {
			return err
		}
		d.WebhookID, d.Address = w.GetId(), w.GetUrl()
		d.Content = &platformv1.DeliveryContent{Subject: texts.subject(), Payload: payload}
		if err := m.add(d, fmt.Sprint("webhook ", w.GetId()), string(content)); err != nil {
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

// delivery returns a delivery without a recipient.
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

// maxSent is the largest size of all texts of a request, in bytes. Otherwise a small request could render texts
// for many recipients in memory at once.
const maxSent = 32 << 20

// add adds a delivery. The content identifies repetitions.
func (m *message) add(d *delivery.Delivery, content ...string) error {
	if *m.remainingBytes -= proto.Size(d.Content); *m.remainingBytes < 0 {
		return fault.TooLarge(fault.CodeItemLimit,
			fmt.Sprintf("The messages to all recipients have more than %d bytes. Name fewer recipients, or use shorter values.", maxSent))
	}
	if !m.until.IsZero() {
		hash := sha256.New()
		for _, part := range append([]string{fmt.Sprint(m.notification.GetId())}, content...) {
			hash.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
			hash.Write([]byte(part))
		}
		d.Fingerprint, d.Until = hash.Sum(nil), m.until
	}
	m.deliveries = append(m.deliveries, d)
	return nil
}

package messaging

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/fault"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/genericnotification"
)

// event is the request body for a webhook.
type event struct {
	Type string `json:"type"`
	// Timestamp is the time of the request for the message, not of the delivery.
	Timestamp string   `json:"timestamp"`
	Data      *payload `json:"data"`
}

// payload is a message in the form for webhooks.
type payload struct {
	MessageID      string   `json:"messageId,omitempty"`
	NotificationID int64    `json:"notificationId"`
	Name           string   `json:"name"`
	Priority       string   `json:"priority"`
	Domain         string   `json:"domain,omitempty"`
	Event          string   `json:"event,omitempty"`
	Subject        string   `json:"subject"`
	ShortMessage   string   `json:"shortMessage,omitempty"`
	LongMessage    string   `json:"longMessage,omitempty"`
	Lines          []line   `json:"lines,omitempty"`
	PersonNumbers  []string `json:"personNumbers,omitempty"`
}

// line is a label with its value.
type line struct {
	Label string `json:"label,omitempty"`
	Value string `json:"value"`
}

// maxText is the largest text for one recipient, in bytes. Values may occur many times.
const maxText = 32 << 10

// texts are the rendered texts of a message in one language.
type texts struct {
	title, short, long string
	lines              []line
}

// render renders the texts in the best language for the preferences. The values in extra override the values in
// the request.
func (m *message) render(preferences acceptlanguage.Preferences, extra map[string]string) (*texts, error) {
	in := genericnotification.In(m.notification, preferences)
	values := maps.Clone(m.values)
	maps.Copy(values, extra)
	out, labels, amounts := &texts{}, [5]string{}, [5]string{}
	parts := []struct {
		at   *string
		text string
	}{
		{&out.title, in.GetSubject()},
		{&out.short, in.GetShortMessage()},
		{&out.long, in.GetLongMessage()},
		{&labels[0], in.GetLabelTemplate1()},
		{&labels[1], in.GetLabelTemplate2()},
		{&labels[2], in.GetLabelTemplate3()},
		{&labels[3], in.GetLabelTemplate4()},
		{&labels[4], in.GetLabelTemplate5()},
		{&amounts[0], in.GetValueTemplate1()},
		{&amounts[1], in.GetValueTemplate2()},
		{&amounts[2], in.GetValueTemplate3()},
		{&amounts[3], in.GetValueTemplate4()},
		{&amounts[4], in.GetValueTemplate5()},
	}
	length := 0
	for _, part := range parts {
		text, err := genericnotification.Render(part.text, values)
		if err != nil {
			return nil, fault.Invalid(CodeMissing, "The generic notification "+m.notification.GetName()+" needs more values: there is "+err.Error()+".")
		}
		*part.at = text
		length += len(text)
	}
	if length > maxText {
		return nil, fault.Invalid(CodeInvalid, fmt.Sprintf("The texts of %.100q have %d bytes with their values; at most %d are permitted.", m.notification.GetName(), length, maxText))
	}
	for i := range labels {
		if labels[i] != "" || amounts[i] != "" {
			out.lines = append(out.lines, line{labels[i], amounts[i]})
		}
	}
	out.title = cmp.Or(out.title, in.GetName())
	return out, nil
}

// subject returns the title as one line.
func (t *texts) subject() string { return strings.Join(strings.Fields(t.title), " ") }

// text returns the text of an e-mail.
func (t *texts) text() string {
	var out strings.Builder
	out.WriteString(cmp.Or(t.long, t.short, t.title))
	out.WriteString("\n")
	for i, l := range t.lines {
		if i == 0 {
			out.WriteString("\n")
		}
		if l.Label != "" {
			out.WriteString(l.Label + ": ")
		}
		out.WriteString(l.Value + "\n")
	}
	return out.String()
}

func (m *message) event(t *texts, persons []*commonsv1.Contact) *payload {
	n := m.notification
	out := &payload{
		NotificationID: n.GetId(), Name: n.GetName(), Priority: n.GetPriority(), Domain: n.GetDomain(), Event: n.GetEvent(),
		Subject: t.subject(), ShortMessage: t.short, LongMessage: t.long, Lines: t.lines,
	}
	for _, p := range persons {
		out.PersonNumbers = append(out.PersonNumbers, p.GetPersonNumber())
	}
	return out
}

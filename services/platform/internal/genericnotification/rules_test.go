package genericnotification

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/language"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/fault"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

func good() *platformv1.GenericNotification {
	return &platformv1.GenericNotification{Name: "Roster", Priority: "low", ResendTypes: "do not suppress DUPLICATES"}
}

func TestPrepareCompletes(t *testing.T) {
	t.Parallel()
	n, err := New(nil).resource.Validate("genericNotification", good())
	require.NoError(t, err)
	assert.Equal(t, "Low", n.GetPriority())
	assert.Equal(t, ResendAlways, n.GetResendTypes())
	assert.NotNil(t, n.SendToEmployee)
	assert.NotNil(t, n.OneClickOnlyNavigation)
}

func TestPrepareRefuses(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*platformv1.GenericNotification)
		code   string
	}{
		"no name":                              {func(n *platformv1.GenericNotification) { n.Name = " " }, CodeMissing},
		"no priority":                          {func(n *platformv1.GenericNotification) { n.Priority = "" }, CodeMissing},
		"another resend type":                  {func(n *platformv1.GenericNotification) { n.ResendTypes = "never" }, CodeInvalid},
		"no interval":                          {func(n *platformv1.GenericNotification) { n.ResendTypes = ResendEvery }, CodeMissing},
		"an interval of nothing":               {func(n *platformv1.GenericNotification) { n.ResendTypes, n.ResendTime = ResendEvery, "0:00" }, CodeInvalid},
		"an interval of more than a month":     {func(n *platformv1.GenericNotification) { n.ResendTypes, n.ResendTime = ResendEvery, "720:01" }, CodeInvalid},
		"a day that begins after its end":      {func(n *platformv1.GenericNotification) { n.ResendTypes, n.ResendTime = ResendEachDay, "24:00" }, CodeInvalid},
		"a time with minutes that no hour has": {func(n *platformv1.GenericNotification) { n.ResendTypes, n.ResendTime = ResendEachDay, "10:60" }, CodeInvalid},
		"an address that is none":              {func(n *platformv1.GenericNotification) { n.EmailRecipients = "a@example.com; b" }, CodeInvalid},
		"an address with a header":             {func(n *platformv1.GenericNotification) { n.EmailRecipients = "a@example.com\r\nBcc: b@example.com" }, CodeInvalid},
		"too many addresses":                   {func(n *platformv1.GenericNotification) { n.EmailRecipients = strings.Repeat("a@b.ch,", 51) }, CodeInvalid},
		"a domain without an event":            {func(n *platformv1.GenericNotification) { n.Domain = "scheduling" }, CodeMissing},
		"a subject of two lines":               {func(n *platformv1.GenericNotification) { n.Subject = "a\nb" }, CodeInvalid},
		"a subject too long":                   {func(n *platformv1.GenericNotification) { n.Subject = strings.Repeat("x", maxLine+1) }, CodeInvalid},
		"a placeholder without a name":         {func(n *platformv1.GenericNotification) { n.LongMessage = "Dear {{1}}" }, CodeInvalid},
		"a placeholder without an end":         {func(n *platformv1.GenericNotification) { n.ValueTemplate3 = "{{name" }, CodeInvalid},
		"a language that is none": {func(n *platformv1.GenericNotification) {
			n.Translations = []*platformv1.GenericNotificationTranslation{{Language: "not one"}}
		}, CodeInvalid},
		"a language twice": {func(n *platformv1.GenericNotification) {
			n.Translations = []*platformv1.GenericNotificationTranslation{{Language: "de"}, {Language: "DE"}}
		}, CodeInvalid},
		"a wrong text of a language": {func(n *platformv1.GenericNotification) {
			n.Translations = []*platformv1.GenericNotificationTranslation{{Language: "de", Subject: "{{"}}
		}, CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := good()
			test.change(n)
			_, err := New(nil).resource.Validate("genericNotification", n)
			assert.Equal(t, test.code, fault.FromError(err).Code, err)
			assert.True(t, fault.HasStatus(err, 400))
		})
	}
}

func TestInterval(t *testing.T) {
	t.Parallel()
	length, ok := Interval(&platformv1.GenericNotification{ResendTime: "36:30"})
	assert.True(t, ok)
	assert.Equal(t, 36*time.Hour+30*time.Minute, length)
	length, ok = Interval(&platformv1.GenericNotification{})
	assert.True(t, ok)
	assert.Zero(t, length)
}

func TestRender(t *testing.T) {
	t.Parallel()
	text, err := Render("{{ a }} and {{b.c}}, {a}", map[string]string{"a": "{{b.c}}", "b.c": "2"})
	require.NoError(t, err)
	assert.Equal(t, "{{b.c}} and 2, {a}", text, "what a value holds is text")
	_, err = Render("{{a}} {{b}}", map[string]string{"a": ""})
	assert.ErrorContains(t, err, "{{b}}")
}

func TestTextsInALanguage(t *testing.T) {
	t.Parallel()
	n := good()
	n.Subject, n.LongMessage = "Roster", "It is out."
	n.Translations = []*platformv1.GenericNotificationTranslation{{Language: "de", Subject: "Dienstplan"}}
	in := In(n, acceptlanguage.Preferences{language.German})
	assert.Equal(t, "de", in.GetLanguage())
	assert.Equal(t, "Dienstplan", in.GetSubject())
	assert.Equal(t, "It is out.", in.GetLongMessage(), "what the language leaves out")
	in = In(n, nil)
	assert.Empty(t, in.GetLanguage())
	assert.Equal(t, "Roster", in.GetSubject())
}

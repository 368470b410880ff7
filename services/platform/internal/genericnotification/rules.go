// Package genericnotification stores the templates of messages to people.
package genericnotification

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/emailaddress"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Codes of the reference product.
const (
	// CodeUnknown (400, 404): there is no such generic notification.
	CodeUnknown = "WCO-104058"
	// CodeSomeUnknown (207): some of the named generic notifications do not exist.
	CodeSomeUnknown = "WCO-104059"
	// CodeForbidden (403): the caller may not use generic notifications. Ask an administrator for the permission.
	CodeForbidden = "WCO-104060"
	// CodeTooMany (413): a batch has more than 10 generic notifications. Split it into several requests.
	CodeTooMany = "WCO-104069"
)

// Codes of this product.
const (
	// CodeInvalid (400): the value of a property is invalid.
	CodeInvalid = "WRL-60501"
	// CodeMissing (400): a required property is missing.
	CodeMissing = "WRL-60502"
	// CodeTaken (409): another generic notification has the name. Choose another name.
	CodeTaken = "WRL-60503"
	// CodeOtherID (400): the id in the body differs from the id in the path.
	CodeOtherID = "WRL-60504"
	// CodeInUse (400): a webhook receives the generic notification. Change or delete the webhook first.
	CodeInUse = "WRL-60505"
)

// Resend types determine when a recipient gets the same message again.
const (
	ResendEachDay = "Resend each day"
	ResendEvery   = "Resend every"
	ResendAlways  = "Do not suppress duplicates"
)

const (
	maxLine       = 1000
	maxMessage    = 20_000
	maxRecipients = 50
	// maxInterval is the longest time to suppress a repetition.
	maxInterval = 720 * time.Hour
)

func invalid(path, what string) error { return fault.Invalid(CodeInvalid, path+" "+what+".") }

// prepare validates a generic notification and sets the defaults.
func prepare(_ string, n *platformv1.GenericNotification) (*platformv1.GenericNotification, error) {
	n.Localized = nil
	var err error
	if n.Priority, err = matchWord("priority", n.GetPriority(), "Low", "Medium", "High"); err != nil {
		return nil, err
	}
	if n.ResendTypes, err = matchWord("resendTypes", n.GetResendTypes(), ResendEachDay, ResendEvery, ResendAlways); err != nil {
		return nil, err
	}
	if err := checkResendTime(n); err != nil {
		return nil, err
	}
	if _, err := Addresses(n.GetEmailRecipients()); err != nil {
		return nil, err
	}
	if (n.GetDomain() == "") != (n.GetEvent() == "") {
		return nil, fault.Invalid(CodeMissing, "domain and event are given together, or neither is.")
	}
	if err := checkTexts("", n.ProtoReflect()); err != nil {
		return nil, err
	}
	complete(n)
	return n, checkTranslations(n.GetTranslations())
}

// complete sets missing flags to false, as in responses.
func complete(n *platformv1.GenericNotification) {
	for _, flag := range []**bool{
		&n.SendToEmployee, &n.SendToEmployeesManager, &n.SendToEmployeesAttendanceAdministrator, &n.SendToEmployeesLeaveAdministrator,
		&n.RecipientListWillBeSuppliedAtRuntime, &n.OneClickOnlyNavigation,
	} {
		if *flag == nil {
			*flag = proto.Bool(false)
		}
	}
}

// matchWord returns the word that equals a text, ignoring case.
func matchWord(path, text string, words ...string) (string, error) {
	if text == "" {
		return "", fault.Invalid(CodeMissing, path+" is missing.")
	}
	for _, word := range words {
		if strings.EqualFold(word, text) {
			return word, nil
		}
	}
	return "", fault.Invalid(CodeInvalid, suggest.NotOneOf(path, text, words...))
}

var hoursAndMinutes = regexp.MustCompile(`^(\d{1,3}):([0-5]\d)$`)

// Interval returns the resend time: a time of day, or a duration.
func Interval(n *platformv1.GenericNotification) (time.Duration, bool) {
	parts := hoursAndMinutes.FindStringSubmatch(cmp.Or(n.GetResendTime(), "00:00"))
	if parts == nil {
		return 0, false
	}
	hours, _ := strconv.Atoi(parts[1])   // at most three digits
	minutes, _ := strconv.Atoi(parts[2]) // two digits
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute, true
}

func checkResendTime(n *platformv1.GenericNotification) error {
	length, ok := Interval(n)
	switch {
	case n.GetResendTypes() == ResendEvery && n.GetResendTime() == "":
		return fault.Invalid(CodeMissing, "resendTime is missing: how long a repetition is suppressed, as HH:MM.")
	case !ok:
		return invalid("resendTime", "must be HH:MM")
	case n.GetResendTypes() == ResendEachDay && length >= 24*time.Hour:
		return invalid("resendTime", "is the time at which the day begins, from 00:00 to 23:59")
	case n.GetResendTypes() == ResendEvery && (length <= 0 || length > maxInterval):
		return invalid("resendTime", "must be from 00:01 to 720:00")
	}
	return nil
}

// Addresses returns the e-mail addresses in a list, which commas or semicolons separate.
func Addresses(list string) ([]string, error) {
	var out []string
	for text := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == ';' }) {
		text = strings.TrimSpace(text)
		if text == "" {
			continue
		}
		if !emailaddress.Valid(text) {
			return nil, invalid("emailRecipients", fmt.Sprintf("has %.100q, which is not an e-mail address", text))
		}
		out = append(out, text)
	}
	if len(out) > maxRecipients {
		return nil, invalid("emailRecipients", fmt.Sprintf("must have at most %d addresses", maxRecipients))
	}
	return out, nil
}

// checkTranslations validates the texts in further languages, and writes their language tags in canonical form.
func checkTranslations(list []*platformv1.GenericNotificationTranslation) error {
	seen := map[string]bool{}
	for i, translation := range list {
		path := fmt.Sprintf("translations[%d].", i)
		tag, ok := acceptlanguage.Parse(translation.GetLanguage())
		if !ok {
			return invalid(path+"language", fmt.Sprintf("%.100q is not a language tag, such as \"de\" or \"fr-CA\"", translation.GetLanguage()))
		}
		if seen[tag] {
			return invalid(path+"language", fmt.Sprintf("%q appears twice", tag))
		}
		seen[tag] = true
		translation.Language = tag
		if err := checkTexts(path, translation.ProtoReflect()); err != nil {
			return err
		}
	}
	return nil
}

// checkTexts validates all texts of a message.
func checkTexts(path string, m protoreflect.Message) (err error) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if field.Kind() != protoreflect.StringKind || field.IsList() {
			return true
		}
		at, text, limit := path+field.JSONName(), value.String(), maxLine
		if field.Name() == "long_message" {
			limit = maxMessage
		}
		if n := utf8.RuneCountInString(text); n > limit {
			err = invalid(at, fmt.Sprintf("must have at most %d characters", limit))
		} else if strings.ContainsFunc(text, control(field.Name())) {
			err = invalid(at, "must not have control characters")
		} else if isTemplate(field.Name()) {
			err = checkTemplate(at, text)
		}
		return err == nil
	})
	return err
}

// control returns a test for characters that are not permitted in a text. Messages may contain line breaks.
func control(name protoreflect.Name) func(rune) bool {
	lines := strings.HasSuffix(string(name), "message") || name == "description"
	return func(r rune) bool { return unicode.IsControl(r) && !(lines && (r == '\n' || r == '\r' || r == '\t')) }
}

func isTemplate(name protoreflect.Name) bool {
	text := string(name)
	return text == "subject" || strings.HasSuffix(text, "message") || strings.Contains(text, "_template")
}

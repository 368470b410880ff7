package policy

import (
	"fmt"
	"strings"
	"sync"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// A form is a required text format.
type form struct {
	valid func(string) bool
	code  string
	// text completes "... is not ".
	text string
}

func textForm(f optionsv1.Format) (form, bool) {
	switch f {
	case optionsv1.Format_FORMAT_DATE:
		return form{isDate, fault.CodeDate, "a date of the form YYYY-MM-DD"}, true
	case optionsv1.Format_FORMAT_DATE_TIME:
		return form{isDateTime, fault.CodeDate, "a date and time of the form YYYY-MM-DDTHH:MM:SS"}, true
	case optionsv1.Format_FORMAT_TIME:
		return form{isTime, fault.CodeTime, "a time of the form HH:MM or HH:MM:SS"}, true
	case optionsv1.Format_FORMAT_LOCALE:
		return form{isLocale, fault.CodeValue, "a language of the form en or en_us"}, true
	case optionsv1.Format_FORMAT_INSTANT:
		return form{isInstant, fault.CodeTime, "a moment of the form YYYY-MM-DDTHH:MM:SSZ or YYYY-MM-DDTHH:MM:SS+HH:MM"}, true
	case optionsv1.Format_FORMAT_DATE_OR_INSTANT:
		return form{isDateOrInstant, fault.CodeDate, "a date of the form YYYY-MM-DD or a moment of the form YYYY-MM-DDTHH:MM:SSZ"}, true
	case optionsv1.Format_FORMAT_GUID:
		return form{isGUID, fault.CodeValue, "an id of the form 01234567-89ab-cdef-0123-456789abcdef"}, true
	default:
		return form{}, false
	}
}

// formatChecks returns one check for each field with a format.
func formatChecks(desc protoreflect.MessageDescriptor) ([]check, error) {
	var checks []check
	for i := range desc.Fields().Len() {
		field := desc.Fields().Get(i)
		if keys, ok := textForm(fieldOptions(field).GetKeyFormat()); ok {
			if !field.IsMap() || field.MapKey().Kind() != protoreflect.StringKind {
				return nil, fmt.Errorf("%s has a format of its keys but is no map with texts as keys", field.FullName())
			}
			checks = append(checks, keys.checkKeys(field))
		}
		form, ok := textForm(fieldOptions(field).GetFormat())
		if !ok {
			continue
		}
		if field.Kind() != protoreflect.StringKind {
			return nil, fmt.Errorf("%s has a format but holds no text", field.FullName())
		}
		if field.IsList() {
			checks = append(checks, form.checkEach(field))
		} else {
			checks = append(checks, form.check(field))
		}
	}
	return checks, nil
}

func (f form) check(field protoreflect.FieldDescriptor) check {
	return func(m protoreflect.Message) *failure {
		text := m.Get(field).String()
		if text == "" || f.valid(text) {
			return nil
		}
		return f.failure(text).under(field.JSONName())
	}
}

func (f form) checkEach(field protoreflect.FieldDescriptor) check {
	return func(m protoreflect.Message) *failure {
		list := m.Get(field).List()
		for i := range list.Len() {
			if text := list.Get(i).String(); !f.valid(text) {
				return f.failure(text).under(fmt.Sprintf("%s[%d]", field.JSONName(), i))
			}
		}
		return nil
	}
}

// checkKeys checks the keys of a map. The path of a failure ends with the map, because a wrong key may
// be long.
func (f form) checkKeys(field protoreflect.FieldDescriptor) check {
	return func(m protoreflect.Message) *failure {
		wrong, found := "", false
		m.Get(field).Map().Range(func(key protoreflect.MapKey, _ protoreflect.Value) bool {
			if text := key.String(); !f.valid(text) && (!found || text < wrong) {
				wrong, found = text, true
			}
			return true
		})
		if !found {
			return nil
		}
		return (&failure{fault: func(path string) *fault.Error {
			return fault.Invalid(f.code, fmt.Sprintf("The key %.40q of %s is not %s.", wrong, path, f.text))
		}}).under(field.JSONName())
	}
}

// compileFormats returns the plan of the formats of a message type. It skips items with formats
// that the method checks itself.
func compileFormats(desc protoreflect.MessageDescriptor) (*plan, error) {
	return compileBelow(desc, formatChecks, func(field protoreflect.FieldDescriptor) bool { return !fieldOptions(field).GetFormatsByItem() })
}

var itemFormats sync.Map // full name of a message -> *plan

// CheckItem returns a fault that names the first text of an item with an invalid format. It is for
// fields with formats_by_item in the contract.
func CheckItem(item proto.Message) error {
	desc := item.ProtoReflect().Descriptor()
	known, ok := itemFormats.Load(desc.FullName())
	if !ok {
		p, err := compileFormats(desc)
		if err != nil {
			return err
		}
		known, _ = itemFormats.LoadOrStore(desc.FullName(), p)
	}
	p, _ := known.(*plan)
	return p.check(item, "")
}

// CheckFormat returns a fault for a text without the format of a field, which it calls by name. A
// field without a format accepts any text, and an empty text is always valid.
func CheckFormat(field protoreflect.FieldDescriptor, name, text string) *fault.Error {
	form, ok := textForm(fieldOptions(field).GetFormat())
	if !ok || text == "" || form.valid(text) {
		return nil
	}
	return form.failure(text).fault(name)
}

func (f form) failure(text string) *failure {
	return &failure{fault: func(path string) *fault.Error {
		return fault.Invalid(f.code, fmt.Sprintf("The value %.40q of %s is not %s.", text, path, f.text))
	}}
}

func fieldOptions(field protoreflect.FieldDescriptor) *optionsv1.Field {
	if !proto.HasExtension(field.Options(), optionsv1.E_Field) {
		return nil
	}
	return proto.GetExtension(field.Options(), optionsv1.E_Field).(*optionsv1.Field)
}

func isDate(text string) bool {
	_, err := civil.ParseDate(text)
	return err == nil
}

func isDateTime(text string) bool {
	_, err := civil.ParseDateTime(text)
	return err == nil
}

func isTime(text string) bool {
	_, err := civil.ParseTimeOfDay(text)
	return err == nil
}

// isLocale reports whether a text is a language of two or three letters, with an optional region or
// script of two to four letters or digits.
func isLocale(text string) bool {
	language, region, has := strings.Cut(text, "_")
	return len(language) >= 2 && len(language) <= 3 && isLower(language, false) &&
		(!has || len(region) >= 2 && len(region) <= 4 && isLower(region, true))
}

// isLower reports whether a text has only lower-case letters of ASCII, or digits if they are allowed.
func isLower(text string, digits bool) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (!digits || r < '0' || r > '9')
	})
}

func isInstant(text string) bool {
	_, err := civil.ParseInstant(text)
	return err == nil
}

func isDateOrInstant(text string) bool {
	_, err := civil.ParseDateOrInstant(text)
	return err == nil
}

func isGUID(text string) bool {
	const length = len("01234567-89ab-cdef-0123-456789abcdef")
	return len(text) == length && uuid.Validate(text) == nil
}

package requestsubtype

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	"github.com/rotaloom/rotaloom/pkg/fault"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timeofffault"
)

// Codes of the reference product.
const (
	// CodeUnknownID (404): no subtype has the id.
	CodeUnknownID = "WFS-126501"
	// CodeUnknownName (404): no subtype has the name.
	CodeUnknownName = "WFS-126502"
	// CodeUnknownTypeID (400): no request type has the id.
	CodeUnknownTypeID = "WFS-126505"
	// CodeUnknownType (400): no request type has the name.
	CodeUnknownType = "WFS-126506"
	// CodeOneList (400): the request must contain either ids or qualifiers, not both.
	CodeOneList = "WFS-111207"
)

// Our own codes, with status 400.
const (
	// CodeKind: the body contains no subtype, or a subtype of another type.
	CodeKind = "WRL-30701"
	// CodeTranslation: a translation has no language, or two translations have the same language.
	CodeTranslation = "WRL-30702"
)

const maxTranslations = 50

// prepare validates a subtype and returns its stored form.
func prepare(given *timekeepingv1.RequestSubtype) (*stored, requestType, error) {
	out := proto.CloneOf(given)
	if out == nil {
		out = &timekeepingv1.RequestSubtype{}
	}
	held, t := inner(out)
	if held == nil {
		return nil, t, fault.Invalid(CodeKind, "The body needs exactly one request subtype, under the name of its kind: "+kinds()+".")
	}
	path := kindName(t)
	if err := timeofffault.Codes().CheckName(path, held.GetName()); err != nil {
		return nil, t, err
	}
	if err := checkTranslations(path, held.GetTranslations()); err != nil {
		return nil, t, err
	}
	if err := checkSettings(out); err != nil {
		return nil, t, err
	}
	return &stored{Name: held.GetName(), Subtype: out}, t, nil
}

// checkTranslations validates the texts in additional languages, and converts their language tags
// to the canonical form.
func checkTranslations(path string, list []*timekeepingv1.RequestSubtypeTranslation) error {
	if len(list) > maxTranslations {
		return timeofffault.Invalid(path+".translations", "must have at most %d entries", maxTranslations)
	}
	seen := map[string]bool{}
	for i, translation := range list {
		at := fmt.Sprintf("%s.translations[%d]", path, i)
		tag, ok := acceptlanguage.Parse(translation.GetLanguage())
		if !ok {
			return fault.Invalid(CodeTranslation, fmt.Sprintf("%s.language %q is not a language tag, such as \"de\" or \"fr-CA\".", at, translation.GetLanguage()))
		}
		if seen[tag] {
			return fault.Invalid(CodeTranslation, fmt.Sprintf("%s.language %q appears twice.", at, tag))
		}
		if err := timeofffault.Codes().CheckName(at, translation.GetName()); err != nil {
			return err
		}
		seen[tag] = true
		translation.Language = tag
	}
	return nil
}

// kindName returns the property that contains subtypes of a type: "timeOffRequest".
func kindName(t requestType) string {
	return (&timekeepingv1.RequestSubtype{}).ProtoReflect().Descriptor().Fields().ByName(t.field).JSONName()
}

func kinds() string {
	var names []string
	for _, t := range requestTypes() {
		names = append(names, kindName(t))
	}
	return strings.Join(names, ", ")
}

// localize sets the localized texts of subtypes. It returns the language of the first subtype that
// has one, which is the language of the response, or "".
func localize(preferences acceptlanguage.Preferences, list ...*timekeepingv1.RequestSubtype) string {
	language := ""
	for _, w := range list {
		held, _ := inner(w)
		name, description, tag := held.GetName(), held.GetDescription(), ""
		var languages []string
		for _, translation := range held.GetTranslations() {
			languages = append(languages, translation.GetLanguage())
		}
		if i := preferences.Choose(languages); i >= 0 {
			translation := held.GetTranslations()[i]
			name, tag = translation.GetName(), translation.GetLanguage()
			if translation.GetDescription() != "" {
				description = translation.GetDescription()
			}
		}
		set(held.ProtoReflect(), "localized_name", protoreflect.ValueOfString(name))
		set(held.ProtoReflect(), "localized_description", protoreflect.ValueOfString(description))
		if language == "" {
			language = tag
		}
	}
	return language
}

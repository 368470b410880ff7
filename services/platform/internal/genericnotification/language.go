package genericnotification

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

type notification = platformv1.GenericNotification

// In returns the texts of a notification in the best language for the preferences. It fills missing texts from
// the notification itself. If no language matches, the language of the result is "".
func In(n *notification, preferences acceptlanguage.Preferences) *platformv1.GenericNotificationTranslation {
	out := &platformv1.GenericNotificationTranslation{}
	languages := make([]string, 0, len(n.GetTranslations()))
	for _, t := range n.GetTranslations() {
		languages = append(languages, t.GetLanguage())
	}
	if i := preferences.Choose(languages); i >= 0 {
		out = proto.CloneOf(n.GetTranslations()[i])
	}
	m, base := out.ProtoReflect(), n.ProtoReflect()
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if source := base.Descriptor().Fields().ByName(field.Name()); source != nil && !m.Has(field) && base.Has(source) {
			m.Set(field, protoreflect.ValueOfString(base.Get(source).String()))
		}
	}
	return out
}

package genericnotification

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/rotaloom/rotaloom/pkg/acceptlanguage"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

type notification = platformv1.GenericNotification

// In returns the texts of a notification in the language that serves the
// preferences best. What the language leaves out is as in the notification itself;
// the language is "" when there is none that serves.
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
		if own := base.Descriptor().Fields().ByName(field.Name()); own != nil && !m.Has(field) && base.Has(own) {
			m.Set(field, protoreflect.ValueOfString(base.Get(own).String()))
		}
	}
	return out
}

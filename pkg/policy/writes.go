package policy

import (
	"strings"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// ChangesData reports whether the operation stores what a user asked for, for itself or as
// a part of what another service does for the user. What an edge stores for itself, such as
// rates and keys of requests, is not counted: reads need it, too.
func (m *Method) ChangesData() bool {
	class := m.Throttle == optionsv1.Throttle_THROTTLE_WRITE || m.Throttle == optionsv1.Throttle_THROTTLE_BULK_WRITE
	return !m.Edge && (class || m.Writes())
}

// Writes reports whether the operation changes something: by its permission, or,
// between services, by its class.
func (m *Method) Writes() bool {
	if m.Internal {
		return m.Throttle == optionsv1.Throttle_THROTTLE_WRITE || m.Throttle == optionsv1.Throttle_THROTTLE_BULK_WRITE
	}
	return strings.HasSuffix(m.Permission, ".write")
}

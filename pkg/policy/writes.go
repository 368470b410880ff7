package policy

import (
	"strings"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// ChangesData reports whether the operation stores data for a user, directly or as part of another
// service's operation. It excludes data that an edge stores for itself, such as rates and request
// keys: reads need these too.
func (m *Method) ChangesData() bool {
	class := m.Throttle == optionsv1.Throttle_THROTTLE_WRITE || m.Throttle == optionsv1.Throttle_THROTTLE_BULK_WRITE
	return !m.Edge && (class || m.Writes())
}

// Writes reports whether the operation changes data: by its permission, or for operations between
// services by its class.
func (m *Method) Writes() bool {
	if m.Internal {
		return m.Throttle == optionsv1.Throttle_THROTTLE_WRITE || m.Throttle == optionsv1.Throttle_THROTTLE_BULK_WRITE
	}
	return strings.HasSuffix(m.Permission, ".write")
}

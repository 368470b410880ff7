package policy

import (
	"strings"

	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// Writes reports whether the operation changes something: by its permission, or,
// between services, by its class.
func (m *Method) Writes() bool {
	if m.Internal {
		return m.Throttle == optionsv1.Throttle_THROTTLE_WRITE || m.Throttle == optionsv1.Throttle_THROTTLE_BULK_WRITE
	}
	return strings.HasSuffix(m.Permission, ".write")
}

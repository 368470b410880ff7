package inventory_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
)

// Services start in the order of the table, so each service that is called must precede its callers.
func TestServicesFollowTheServicesThatTheyCall(t *testing.T) {
	t.Parallel()
	started := map[string]bool{}
	for _, s := range inventory.Services() {
		for _, called := range s.Calls {
			assert.True(t, started[called], "%s calls %s, which is not before it", s.Name, called)
		}
		started[s.Name] = true
	}
}

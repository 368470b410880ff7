package operation

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// As soon as the server is ready, callers can read schedules of the demonstration.
func TestAReadyServerHasTheDemonstration(t *testing.T) {
	t.Parallel()
	api := scenario.API{Target: launch.Standalone(t, "--demo").Target(t)}
	var page struct {
		Propagations []struct{ Cause, State string }
	}
	_, err := api.Call(t.Context(), http.MethodPost, "/v1/scheduling/propagations/multi_read", scenario.Object{"count": 1000}, &page)
	require.NoError(t, err)
	patterns := 0
	for _, p := range page.Propagations {
		if p.Cause == "PATTERN" {
			patterns++
			assert.Equal(t, "FINISHED", p.State)
		}
	}
	assert.Positive(t, patterns)
}

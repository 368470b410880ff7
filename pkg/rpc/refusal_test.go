package rpc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/rpc"
)

func TestRefusalsOfKnownCallersAreNoted(t *testing.T) {
	t.Parallel()
	eachTransport(t, rpc.Config{}, func(t *testing.T, f *fixture) {
		user := f.user(t.Context())
		_, err := f.ask(t, user, f.edge, writeMethod, "") // Not permitted.
		require.Error(t, err)
		_, err = f.ask(t, user, f.edge, askMethod, `mode: "forbidden"`) // By a rule of the operation.
		require.Error(t, err)

		_, err = f.ask(t, t.Context(), f.edge, openMethod, `mode: "refused to eve"`) // by a rule of a public operation
		require.Error(t, err)

		_, err = f.ask(t, user, f.edge, askMethod, `mode: "hidden"`) // By a row rule.
		require.Error(t, err)
		_, err = f.ask(t, user, f.trusted, askMethod, `mode: "hidden"`) // The same, where one service asks another.
		require.Error(t, err)

		_, err = f.ask(t, user, f.edge, askMethod, `mode: "items"`) // Items of a request that did something.
		require.NoError(t, err)
		_, err = f.ask(t, user, f.trusted, askMethod, `mode: "items"`) // The service that asks says so itself.
		require.NoError(t, err)

		// Other failures, refusals of unknown callers, and refusals of services are not recorded.
		for _, mode := range []string{"fault", "error", "panic", "away"} {
			_, err = f.ask(t, user, f.edge, askMethod, `mode: "`+mode+`"`)
			require.Error(t, err)
		}
		_, err = f.ask(t, t.Context(), f.edge, askMethod, "")
		require.Error(t, err)
		_, err = f.ask(t, user, f.trusted, askMethod, `mode: "forbidden"`)
		require.Error(t, err)
		_, err = f.ask(t, user, f.edge, askMethod, "")
		require.NoError(t, err)

		f.mu.Lock()
		defer f.mu.Unlock()
		assert.Equal(t, []string{
			writeMethod + " 7 ada WFP-90012", askMethod + " 7 ada WFP-1", openMethod + " 9 eve WFP-2",
			askMethod + " 7 ada not_visible", askMethod + " 7 ada not_visible",
			askMethod + " 7 ada WFP-4", askMethod + " 7 ada WFP-5",
		}, f.refused)
	})
}

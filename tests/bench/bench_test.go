package bench_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/bench"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
)

// A baseline must return the same bytes as the product, or the comparison means nothing. This test
// fails if a response changes without its baseline. It does not check the targets, because tests
// share the machine.
func TestBaselinesReturnWhatTheProductReturns(t *testing.T) {
	t.Parallel()
	var table bytes.Buffer
	_, err := bench.Run(t.Context(), &table, harness.Options{
		Only: []string{"read-standalone", "read-processor", "read-transport", "get-template"}, Rounds: 1, Short: true, Log: t.Output(),
	})
	require.NoError(t, err)
	for _, figure := range []string{"read-standalone", "read-processor", "read-transport", "get-template"} {
		assert.Contains(t, table.String(), figure)
	}
}

package bench_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/bench"
	"github.com/rotaloom/rotaloom/tests/bench/harness"
)

// A baseline that returns other bytes than the product compares nothing. Whoever changes
// a response notices here that the baseline must follow. Whether targets are met is not
// looked at: tests share the machine.
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

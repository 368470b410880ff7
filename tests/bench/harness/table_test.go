package harness_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/bench/harness"
)

// A figure that the machine cannot measure shows the reason, and does not miss its target.
func TestTableShowsWhyAFigureIsNotMeasured(t *testing.T) {
	t.Parallel()
	unmeasured := harness.Figure{Name: "read-network", AtMost: 1.1, NotMeasured: "no root"}
	missed := harness.Figure{Name: "read-standalone", Unit: "ms", AtMost: 0.7, Measured: harness.Sample{2}, Baseline: harness.Sample{1}}

	var table bytes.Buffer
	met, err := harness.WriteTable(&table, []harness.Figure{unmeasured})
	require.NoError(t, err)
	assert.True(t, met)
	assert.Regexp(t, `read-network +not measured .* no root`, table.String())

	met, err = harness.WriteTable(&table, []harness.Figure{unmeasured, missed})
	require.NoError(t, err)
	assert.False(t, met)
}

package amount

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
)

func TestAmounts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "1": "1", "-12.5": "-12.5", "0.0001": "0.0001", "100": "100", "1e3": "1000", "12.3400": "12.34", "-999999999.9999": "-999999999.9999",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			a, err := Parse("x", structpb.NewStringValue(text))
			require.NoError(t, err)
			assert.Equal(t, want, a.String())
			assert.Equal(t, a, Read(a.String()))
		})
	}
	for _, text := range []string{"", "x", "1/2", "0x10", "1e99", "1e999999999", "0.00001", "1000000001", "NaN", "Infinity", "1_000"} {
		t.Run("not "+text, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("x", structpb.NewStringValue(text))
			require.ErrorContains(t, err, "x must")
		})
	}
	seconds, err := ParseHours("x", structpb.NewStringValue("0.3333"))
	require.NoError(t, err)
	assert.Equal(t, int64(1200), seconds, "to the nearest second")
}

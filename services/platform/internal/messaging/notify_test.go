package messaging

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
)

// Numbers in messages look as a person writes them, and none loses digits.
func TestPlaceholdersShowNumbers(t *testing.T) {
	t.Parallel()
	for _, want := range []string{"0", "7", "-7.25", "1234567.5", "0.0000125", "123456789012.5", "9007199254740991", "-9007199254740991"} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			number, err := strconv.ParseFloat(want, 64)
			require.NoError(t, err)
			values, err := placeholderValues([]*structpb.Struct{{Fields: map[string]*structpb.Value{"n": structpb.NewNumberValue(number)}}})
			require.NoError(t, err)
			assert.Equal(t, want, values["n"])
		})
	}
	for _, number := range []float64{9007199254740993, -9007199254740992, 1e300} {
		t.Run(strconv.FormatFloat(number, 'g', -1, 64), func(t *testing.T) {
			t.Parallel()
			_, err := placeholderValues([]*structpb.Struct{{Fields: map[string]*structpb.Value{"n": structpb.NewNumberValue(number)}}})
			faulttest.RequireCode(t, CodeInvalid, err)
		})
	}
}

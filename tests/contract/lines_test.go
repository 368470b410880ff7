package contract

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinesBecomeAList(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"":                       "[]",
		"{\"a\":1}\n":            `[{"a":1}]`,
		"{\"a\":1}\n{\"b\":2}\n": `[{"a":1},{"b":2}]`,
	} {
		got, err := listLines([]byte(body))
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	for _, body := range []string{"{\"a\":1}", "\n", "{\"a\":\n1}\n", "{}\n\n", "{}{}\n"} {
		_, err := listLines([]byte(body))
		require.Error(t, err, "%q", body)
	}
}

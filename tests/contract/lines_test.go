package contract

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinesBecomeAList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, want string }{
		{"no lines", "", "[]"},
		{"a line", "{\"a\":1}\n", `[{"a":1}]`},
		{"two lines", "{\"a\":1}\n{\"b\":2}\n", `[{"a":1},{"b":2}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := listLines([]byte(c.body))
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
		})
	}
	for name, body := range map[string]string{
		"no end of the line": "{\"a\":1}", "an empty line": "\n", "an item on two lines": "{\"a\":\n1}\n", "an empty line at the end": "{}\n\n", "two items on a line": "{}{}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := listLines([]byte(body))
			require.Error(t, err)
		})
	}
}

package idempotencykey

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/gateway/headers"
)

// FuzzIdempotencyKey parses any header: an accepted key is short and printable.
func FuzzIdempotencyKey(f *testing.F) {
	for _, value := range []string{"a", `"a"`, `"a\"b\\"`, `"`, `"a";x=1`, "", " a ", "ä", `"ä"`} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, bad := Parse(http.Header{Header: {value}})
		require.Equal(t, key == "", bad != nil)
		require.LessOrEqual(t, len(key), maxKey)
		require.True(t, headers.Printable(key))
		if bad == nil {
			again, worse := Parse(http.Header{Header: {`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`}})
			require.Nil(t, worse)
			require.Equal(t, key, again)
		}
	})
}

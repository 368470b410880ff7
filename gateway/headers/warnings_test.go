package headers_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/gateway/headers"
)

func TestEachWarningIsSentOnce(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	headers.AddWarnings(h, nil)
	assert.Empty(t, h)
	headers.AddWarnings(h, []string{`"a"`, `"b"`, `"a"`})
	assert.Equal(t, []string{`299 - "a"`, `299 - "b"`}, h["Warning"])
}

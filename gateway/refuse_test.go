package gateway

import (
	"crypto/tls"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A client that is refused over HTTP/1 with a small body keeps its connection. Otherwise a crowd of refused
// clients would cause as many new handshakes.
func TestRefusedSendersKeepTheirConnection(t *testing.T) {
	t.Parallel()
	address, client := listen(t, (*Server).Serve)
	transport := client.Transport.(*http.Transport)
	transport.ForceAttemptHTTP2, transport.TLSNextProto = false, map[string]func(string, *tls.Conn) http.RoundTripper{}
	reused := 0
	for i := range 5 {
		trace := &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
			if c.Reused {
				reused++
			}
		}}
		r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), http.MethodPost,
			"https://"+address+"/v1/nothing", strings.NewReader(strings.Repeat(" ", 1000*i+1)))
		require.NoError(t, err)
		re := send(t, client, r)
		assert.Equal(t, http.StatusNotFound, re.status)
	}
	assert.Equal(t, 4, reused)
}

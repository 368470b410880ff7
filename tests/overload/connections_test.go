package overload

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
)

// Many clients connect, and send a request or nothing. Operators still see that the process lives,
// and a client that waits for a place gets one after the storm.
func TestAStormOfConnections(t *testing.T) {
	server := launch.Standalone(t, "--admin-address", "127.0.0.1:0", "--max-connections", "32", "--header-timeout", "1s")
	target := server.Target(t)
	w := &fixture{t: t, admin: map[string]string{"rotaloom": adminAddress(t, server.Process)}}
	address := strings.TrimPrefix(server.BaseURL, "https://")
	config := server.Client.Transport.(*http.Transport).TLSClientConfig

	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	health := w.watchHealth(ctx)
	var storm sync.WaitGroup
	for i := range 400 {
		storm.Go(func() {
			for ctx.Err() == nil {
				connectAndRest(ctx, address, config, i%2 == 0)
			}
		})
	}
	storm.Wait()
	seen := <-health
	assert.Positive(t, seen.looks)
	assert.Empty(t, seen.what, "health stays green")

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.BaseURL+"/v1/platform/limits", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+target.Token)
	began := time.Now()
	response, err := server.Client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Less(t, time.Since(began), 2*soon, "it is over when the storm is")
}

// connectAndRest connects, with or without a TLS handshake, and waits for a second or until the
// server ends the connection.
func connectAndRest(ctx context.Context, address string, config *tls.Config, greet bool) {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return // a refusal, too
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second)) // The connection may be over.
	if greet {
		config = config.Clone()
		config.ServerName = "localhost"
		conn = tls.Client(conn, config)
	}
	_, _ = conn.Read(make([]byte, 1)) // however it ends
}

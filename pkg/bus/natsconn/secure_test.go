package natsconn_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus/natsconn"
	"github.com/rotaloom/rotaloom/pkg/obs"
)

func TestServersElsewhereNeedTLSAndAUser(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	for name, c := range map[string]struct {
		cfg     natsconn.Config
		refused string
	}{
		"this machine":              {natsconn.Config{URL: "nats://127.0.0.1:1"}, ""},
		"this machine by name":      {natsconn.Config{URL: "localhost:1"}, ""},
		"this machine, IPv6":        {natsconn.Config{URL: "nats://[::1]:1"}, ""},
		"TLS and a user":            {natsconn.Config{URL: "tls://commons:secret@192.0.2.1:4222"}, ""},
		"plain":                     {natsconn.Config{URL: "nats://commons:secret@192.0.2.1:4222"}, "has no TLS"},
		"no scheme":                 {natsconn.Config{URL: "192.0.2.1:4222"}, "has no TLS"},
		"one of several is plain":   {natsconn.Config{URL: "tls://a:b@192.0.2.1:4222,nats://a:b@192.0.2.2:4222"}, "has no TLS"},
		"a name that looks local":   {natsconn.Config{URL: "nats://localhost.example.org:4222"}, "has no TLS"},
		"plain websocket":           {natsconn.Config{URL: "ws://a:b@192.0.2.1:4222"}, "has no TLS"},
		"no user":                   {natsconn.Config{URL: "tls://192.0.2.1:4222"}, "has no user"},
		"an operator who says so":   {natsconn.Config{URL: "nats://192.0.2.1:4222", AllowInsecure: true}, ""},
		"an address that cannot be": {natsconn.Config{URL: "tls://a:secret@%zz"}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := natsconn.Connect(c.cfg, "test", log)
			if c.refused == "" {
				require.NoError(t, err)
				conn.Close()
				return
			}
			require.ErrorContains(t, err, c.refused)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
	_, err := natsconn.Connect(natsconn.Config{URL: obs.Secret("tls://192.0.2.1"), Credentials: "/nowhere"}, "test", log)
	assert.NotContains(t, err.Error(), "has no user")
}

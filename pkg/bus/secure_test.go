package bus_test

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/obs"
)

func TestServersElsewhereNeedTLSAndAUser(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	for name, c := range map[string]struct {
		cfg     bus.Config
		refused string
	}{
		"this machine":              {bus.Config{URL: "nats://127.0.0.1:1"}, ""},
		"this machine by name":      {bus.Config{URL: "localhost:1"}, ""},
		"this machine, IPv6":        {bus.Config{URL: "nats://[::1]:1"}, ""},
		"TLS and a user":            {bus.Config{URL: "tls://commons:secret@192.0.2.1:4222"}, ""},
		"plain":                     {bus.Config{URL: "nats://commons:secret@192.0.2.1:4222"}, "without TLS"},
		"no scheme":                 {bus.Config{URL: "192.0.2.1:4222"}, "without TLS"},
		"one of several is plain":   {bus.Config{URL: "tls://a:b@192.0.2.1:4222,nats://a:b@192.0.2.2:4222"}, "without TLS"},
		"a name that looks local":   {bus.Config{URL: "nats://localhost.example.org:4222"}, "without TLS"},
		"plain websocket":           {bus.Config{URL: "ws://a:b@192.0.2.1:4222"}, "without TLS"},
		"no user":                   {bus.Config{URL: "tls://192.0.2.1:4222"}, "without a user"},
		"an operator who says so":   {bus.Config{URL: "nats://192.0.2.1:4222", AllowInsecure: true}, ""},
		"an address that cannot be": {bus.Config{URL: "tls://a:secret@%zz"}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := bus.Connect(c.cfg, "test", log)
			if c.refused == "" {
				require.NoError(t, err)
				conn.Close()
				return
			}
			require.ErrorContains(t, err, c.refused)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
	_, err := bus.Connect(bus.Config{URL: obs.Secret("tls://192.0.2.1"), Credentials: "/nowhere"}, "test", log)
	assert.NotContains(t, err.Error(), "without a user")
}

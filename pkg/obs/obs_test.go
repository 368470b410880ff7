package obs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

func TestLinesSayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log, err := obs.NewLogger(&out, obs.LogConfig{Level: "info", Format: "json"})
	require.NoError(t, err)

	ctx := obs.WithRequest(tenant.With(context.Background(), 7), obs.Request{
		ID:          "request-1",
		Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	})
	log.With("service", "x").InfoContext(ctx, "hello", "password", obs.Secret("hunter2"))
	log.DebugContext(ctx, "not written")

	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line), out.String())
	assert.Equal(t, "request-1", line["request_id"])
	assert.Equal(t, "0af7651916cd43dd8448eb211c80319c", line["trace_id"])
	assert.EqualValues(t, 7, line["tenant"])
	assert.Equal(t, "x", line["service"])
	assert.Equal(t, "[redacted]", line["password"])

	out.Reset()
	log.WithGroup("g").Info("bare")
	assert.NotContains(t, out.String(), "request_id")
	assert.NotContains(t, out.String(), "tenant")
}

func TestLoggerRefusesUnknownSettings(t *testing.T) {
	t.Parallel()
	for i, cfg := range []obs.LogConfig{{Level: "loud", Format: "json"}, {Level: "info", Format: "xml"}, {}} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := obs.NewLogger(&bytes.Buffer{}, cfg)
			assert.Error(t, err)
		})
	}
}

func TestSecretIsNeverShown(t *testing.T) {
	t.Parallel()
	secret := obs.Secret("hunter2")
	in := struct{ Password obs.Secret }{secret}
	asJSON, err := json.Marshal(in)
	require.NoError(t, err)
	var text bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("x", "config", in, "secret", secret)
	for _, shown := range []string{
		string(asJSON), text.String(), secret.String(),
		fmt.Sprintf("%v %+v %#v %s %q %x %d", in, in, in, secret, secret, secret, secret),
	} {
		t.Run(shown, func(t *testing.T) {
			assert.NotContains(t, shown, "hunter2")
			assert.NotContains(t, shown, "68756e74657232")
			assert.Contains(t, shown, "[redacted]")
		})
	}
	assert.Equal(t, "hunter2", secret.Reveal())
	assert.Empty(t, obs.Secret("").String())

	var read obs.Secret
	require.NoError(t, read.UnmarshalText([]byte("x")))
	assert.Equal(t, "x", read.Reveal())
}

func TestRequestIDs(t *testing.T) {
	t.Parallel()
	a, b := obs.NewRequestID(), obs.NewRequestID()
	assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, a)
	assert.NotEqual(t, a, b)
	assert.True(t, obs.ValidRequestID(a))
	for _, bad := range []string{"", "short", "has space in it", "line\nfeed-1", "emoji-🙂-emoji", string(make([]byte, 65))} {
		t.Run(bad, func(t *testing.T) {
			assert.False(t, obs.ValidRequestID(bad), bad)
		})
	}
	assert.Empty(t, obs.Request{Traceparent: "00-x"}.TraceID())
	assert.False(t, obs.ValidTraceparent("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
}

func TestServicesOfOneProcessDoNotCollide(t *testing.T) {
	t.Parallel()
	registry := obs.NewRegistry()
	for _, service := range []string{"auth", "commons"} {
		t.Run(service, func(t *testing.T) {
			counter := prometheus.NewCounter(prometheus.CounterOpts{Name: "things_total", Help: "Things."})
			require.NoError(t, obs.ForService(registry, service).Register(counter))
		})
	}
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() == "things_total" {
			assert.Len(t, family.GetMetric(), 2)
			return
		}
	}
	t.Fatal("things_total is missing")
}

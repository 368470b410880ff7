package webhook

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/delivery"
	"github.com/rotaloom/rotaloom/services/platform/internal/pooltest"
)

// receiver is a program that receives messages.
type receiver struct {
	*httptest.Server
	caFile string

	mu       sync.Mutex
	status   int
	header   http.Header
	requests []*http.Request
	bodies   [][]byte
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{status: http.StatusOK}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.requests, r.bodies = append(r.requests, req), append(r.bodies, body)
		for name := range r.header {
			w.Header().Set(name, r.header.Get(name))
		}
		w.WriteHeader(r.status)
	}))
	t.Cleanup(r.Close)
	r.caFile = filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(r.caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw}), 0o600))
	return r
}

func (r *receiver) response(status int, header http.Header) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.header = status, header
}

// fixture is a webhook at a receiver.
type fixture struct {
	ctx       context.Context
	pool      *pg.Pool
	handler   *Handler
	transport *Transport
	webhook   *platformv1.Webhook
	clock     *clock.Fake
}

func newFixture(t *testing.T, url, caFile string, networks ...string) *fixture {
	t.Helper()
	b := &fixture{ctx: tenant.With(t.Context(), 1), clock: clock.NewFake(time.Now())}
	b.pool = pooltest.New(t)
	cfg := Config{Networks: networks, CAFile: caFile}
	var err error
	b.handler, err = New(Config{Networks: []string{"127.0.0.0/8"}}, b.pool, nil, b.clock)
	require.NoError(t, err)
	b.transport, err = NewTransport(cfg, b.pool, b.clock)
	require.NoError(t, err)
	b.webhook, err = b.handler.CreateWebhook(b.ctx, &platformv1.Webhook{Name: "desk", Url: url})
	require.NoError(t, err)
	return b
}

func (b *fixture) send(t *testing.T) (string, error) {
	t.Helper()
	return b.transport.Send(b.ctx, &delivery.Delivery{
		Tenant: 1, WebhookID: b.webhook.GetId(), UID: uuid.New(), Content: &platformv1.DeliveryContent{Payload: []byte(`{"type":"notification.sent"}`)},
	})
}

func verifySignature(t *testing.T, secret string, r *receiver) error {
	t.Helper()
	key, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	r.mu.Lock()
	defer r.mu.Unlock()
	last := len(r.requests) - 1
	return key.Verify(r.bodies[last], r.requests[last].Header)
}

func TestRequestsAreSigned(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	b := newFixture(t, r.URL, r.caFile, "127.0.0.0/8")
	_, err := b.send(t)
	require.NoError(t, err)
	first := b.webhook.GetSecret()
	require.NoError(t, verifySignature(t, first, r))
	require.Error(t, verifySignature(t, newSecret(), r), "another secret")

	rotated, err := b.handler.RotateWebhookSecret(b.ctx, &platformv1.RotateWebhookSecretRequest{Id: b.webhook.GetId()})
	require.NoError(t, err)
	require.NotEqual(t, first, rotated.GetSecret())
	_, err = b.send(t)
	require.NoError(t, err)
	require.NoError(t, verifySignature(t, first, r), "for a day the former secret holds")
	require.NoError(t, verifySignature(t, rotated.GetSecret(), r))
	read, err := b.handler.GetWebhook(b.ctx, &platformv1.GetWebhookRequest{Id: b.webhook.GetId()})
	require.NoError(t, err)
	assert.Empty(t, read.GetSecret(), "it is shown once")
}

func TestFormerSecretsEnd(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	b := newFixture(t, r.URL, r.caFile, "127.0.0.0/8")
	rotated, err := b.handler.RotateWebhookSecret(b.ctx, &platformv1.RotateWebhookSecretRequest{Id: b.webhook.GetId()})
	require.NoError(t, err)
	_, err = b.pool.Exec(b.ctx, `UPDATE webhook SET former_until = $1`, b.clock.Now().Add(-time.Second))
	require.NoError(t, err)
	_, err = b.send(t)
	require.NoError(t, err)
	require.Error(t, verifySignature(t, b.webhook.GetSecret(), r))
	require.NoError(t, verifySignature(t, rotated.GetSecret(), r))
}

func TestResponsesOfReceivers(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	elsewhere := newReceiver(t)
	b := newFixture(t, r.URL, r.caFile, "127.0.0.0/8")
	for _, test := range []struct {
		it     string
		status int
		header http.Header
		wait   time.Duration
	}{
		{"an error", 500, nil, 0},
		{"a refusal", 400, nil, 0},
		{"a redirect", 307, http.Header{"Location": {elsewhere.URL}}, 0},
		{"not now", 503, http.Header{"Retry-After": {"120"}}, 2 * time.Minute},
		{"not before", 429, http.Header{"Retry-After": {b.clock.Now().Add(time.Hour).UTC().Format(http.TimeFormat)}}, time.Hour},
	} {
		t.Run(test.it, func(t *testing.T) {
			r.response(test.status, test.header)
			_, err := b.send(t)
			var known *delivery.Error
			require.ErrorAs(t, err, &known, test.it)
			assert.False(t, known.Permanent, test.it)
			assert.InDelta(t, test.wait, known.RetryAfter, float64(time.Second), test.it)
		})
	}
	assert.Empty(t, elsewhere.requests, "redirects are not followed")

	r.response(410, nil)
	for _, says := range []string{"410", "not active"} {
		t.Run(says, func(t *testing.T) {
			_, err := b.send(t)
			var known *delivery.Error
			require.ErrorAs(t, err, &known)
			assert.True(t, known.Permanent)
			assert.ErrorContains(t, err, says)
		})
	}
	w, err := b.handler.GetWebhook(b.ctx, &platformv1.GetWebhookRequest{Id: b.webhook.GetId()})
	require.NoError(t, err)
	assert.False(t, w.GetActive())
	_, err = b.handler.DeleteWebhook(b.ctx, &platformv1.DeleteWebhookRequest{Id: b.webhook.GetId()})
	require.NoError(t, err)
	_, err = b.send(t)
	assert.ErrorContains(t, err, "deleted")
}

// A name that points to an address of the machine is refused when it is connected to,
// whatever it pointed to when the webhook was stored.
func TestNamesThatPointInsideAreRefused(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	_, port, err := net.SplitHostPort(r.Listener.Addr().String())
	require.NoError(t, err)
	b := newFixture(t, "https://localhost:"+port, r.caFile)
	_, err = b.send(t)
	require.ErrorIs(t, err, errNotPublic)
	assert.NotRegexp(t, `127\.0\.0\.1|::1`, err.Error(), "what names point to inside is shown to nobody")
	assert.Empty(t, r.requests)
}

// The errors of a webhook that cannot be called contain neither the URL, which often contains a secret, nor the
// operator's network. That applies to the tenant's log and to the process's log.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.Close()
	b := newFixture(t, r.URL+"/hooks/confidential?token=confidential", r.caFile, "127.0.0.0/8")
	_, err := b.send(t)
	require.ErrorContains(t, errors.Unwrap(err), "refused", "the operator sees it")
	for ; err != nil; err = errors.Unwrap(err) {
		assert.NotContains(t, err.Error(), "confidential")
	}

	lookup := &net.DNSError{Err: "no such host", Name: "db.internal", Server: "10.96.0.10:53", IsNotFound: true}
	err = unreachable(&url.Error{Op: "Post", URL: "https://db.internal/confidential", Err: &net.OpError{Op: "dial", Net: "tcp", Err: lookup}})
	assert.NotRegexp(t, `confidential|10\.96`, err.Error())
	assert.ErrorIs(t, err, lookup, "the operator sees it")
}

func TestGuard(t *testing.T) {
	t.Parallel()
	g, err := newGuard([]string{"10.1.0.0/16", "fd00:1::/32"})
	require.NoError(t, err)
	for address, open := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1::1": true, "10.1.2.3": true, "::ffff:10.1.2.3": true, "fd00:1::5": true,
		"127.0.0.1": false, "::1": false, "10.2.0.1": false, "192.168.1.1": false, "172.16.0.1": false, "169.254.169.254": false, "fe80::1%eth0": false,
		"fd00:2::1": false, "0.0.0.0": false, "::": false, "100.64.0.1": false, "224.0.0.1": false, "255.255.255.255": false, "::ffff:127.0.0.1": false,
		"64:ff9b::7f00:1": false, "2002:7f00:1::": false, "::7f00:1": false, "192.0.2.1": false, "198.18.0.1": false,
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			err := g.check(netip.MustParseAddr(address))
			assert.Equal(t, !open, errors.Is(err, errNotPublic), err)
		})
	}
	_, err = newGuard([]string{"10.1.0.0"})
	assert.Error(t, err)
}

func TestWebhooksThatAreRefused(t *testing.T) {
	t.Parallel()
	h, err := New(Config{}, nil, nil, clock.System{})
	require.NoError(t, err)
	for name, test := range map[string]struct{ url, code string }{
		"no url":        {"", CodeMissing},
		"plain HTTP":    {"http://example.com", CodeInvalid},
		"no host":       {"https:///path", CodeInvalid},
		"a user":        {"https://a:b@example.com", CodeInvalid},
		"the loopback":  {"https://127.0.0.1/hook", CodeInvalid},
		"the same in 6": {"https://[::1]:8443/hook", CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := h.resource.Validate("webhook", &platformv1.Webhook{Name: "x", Url: test.url})
			assert.Equal(t, test.code, fault.FromError(err).Code, err)
		})
	}
}

package webhook

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/pkg/testkit/smtptest"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/delivery"
	"github.com/rotaloom/rotaloom/services/platform/internal/mailer"
)

// hanging is a program that takes requests over HTTPS and responds to none.
func hanging(t *testing.T) *httptest.Server {
	t.Helper()
	ended := make(chan struct{})
	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-ended:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(func() {
		close(ended)
		server.Close()
	})
	return server
}

// writeCAFile writes the certificates of servers to one file.
func writeCAFile(t *testing.T, servers ...*httptest.Server) string {
	t.Helper()
	var text []byte
	for _, s := range servers {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})...)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

// A webhook that takes requests and never responds delays neither the tenant's e-mails nor
// its other webhooks, whatever waits for it.
func TestAHangingWebhookDelaysNobody(t *testing.T) {
	t.Parallel()
	stuck, good := hanging(t), newReceiver(t)
	mails := smtptest.Start(t, false, "", "")
	b := newFixture(t, stuck.URL, writeCAFile(t, stuck, good.Server), "127.0.0.0/8")
	other, err := b.handler.CreateWebhook(b.ctx, &platformv1.Webhook{Name: "other", Url: good.URL})
	require.NoError(t, err)
	m, err := mailer.New(mailer.Config{Host: mails.Host, Port: mails.Port, CAFile: mails.CAFile, TLS: "starttls", From: "roster@example.com"})
	require.NoError(t, err)
	sender, err := delivery.NewSender(delivery.Config{PollEvery: 20 * time.Millisecond}, delivery.Deps{
		Pool: b.pool, Transports: map[string]delivery.Transport{delivery.Email: m, delivery.Webhook: b.transport},
		Clock: clock.System{}, Log: pgtest.Log(t), Registry: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	store := func(list ...*delivery.Delivery) {
		t.Helper()
		require.NoError(t, pg.InTx(b.ctx, b.pool, func(ctx context.Context, tx pgx.Tx) error {
			return delivery.Append(ctx, tx, time.Now(), list)
		}))
		sender.Wake()
	}
	make1 := func(channel string, hook int64, address string) *delivery.Delivery {
		uid, err := delivery.NewUID()
		require.NoError(t, err)
		return &delivery.Delivery{
			UID: uid, Message: uid, Channel: channel, State: delivery.Pending, WebhookID: hook, Address: address, GiveUpAt: time.Now().Add(time.Hour),
			Content: &platformv1.DeliveryContent{Subject: "Roster", Text: "It changed.", Payload: []byte(`{}`)},
		}
	}
	var flood []*delivery.Delivery
	for range 200 {
		flood = append(flood, make1(delivery.Webhook, b.webhook.GetId(), stuck.URL))
	}
	store(flood...)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { assert.NoError(t, sender.Run(ctx)) })
	defer func() {
		cancel()
		running.Wait()
	}()
	require.Eventually(t, func() bool {
		var attempts int
		err := b.pool.QueryRow(b.ctx, `SELECT count(*) FROM notification_delivery WHERE webhook_id = $1 AND attempts > 0`, b.webhook.GetId()).Scan(&attempts)
		return err == nil && attempts > 0
	}, 10*time.Second, 10*time.Millisecond)

	for n := range 10 {
		began := time.Now()
		store(make1(delivery.Email, 0, fmt.Sprintf("ada%d@example.com", n)), make1(delivery.Webhook, other.GetId(), good.URL))
		require.Eventually(t, func() bool {
			good.mu.Lock()
			defer good.mu.Unlock()
			return len(mails.Mails()) == n+1 && len(good.requests) == n+1
		}, 10*time.Second, 5*time.Millisecond)
		assert.Less(t, time.Since(began), 5*time.Second, "while one webhook hangs for 15 s")
	}
	var begun int
	require.NoError(t, b.pool.QueryRow(b.ctx, `SELECT count(*) FROM notification_delivery WHERE webhook_id = $1 AND attempts > 0`, b.webhook.GetId()).Scan(&begun))
	assert.LessOrEqual(t, begun, 8, "its attempts at the same time are bounded")
}

// Errors do not reveal whether a port is closed, silent, or uses another protocol.
func TestPortStatesAreNotRevealed(t *testing.T) {
	t.Parallel()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	unknown := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(unknown.Close)
	ends, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: unknown.TLS.Certificates, MinVersion: tls.VersionTLS12})
	require.NoError(t, err)
	t.Cleanup(func() { _ = ends.Close() })
	go func() {
		for {
			conn, err := ends.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	stuck := hanging(t)
	var before *delivery.Error
	trusted := writeCAFile(t, stuck)
	for _, at := range []struct{ name, url, caFile string }{
		{"closed", "https://" + closed.Addr().String(), trusted},
		{"without TLS", "https://" + plain.Listener.Addr().String(), trusted},
		{"an authority that is not trusted", unknown.URL, ""},
		{"a connection that ends", "https://" + ends.Addr().String(), trusted},
		{"silent", stuck.URL, trusted},
	} {
		t.Run(at.name, func(t *testing.T) {
			b := newFixture(t, at.url, at.caFile, "127.0.0.0/8")
			b.transport.client.Timeout = 300 * time.Millisecond
			_, err := b.send(t)
			var known *delivery.Error
			require.ErrorAs(t, err, &known)
			require.Error(t, known.Cause, "the operator reads it")
			assert.Equal(t, timeout, known.Conceal)
			known.Cause = nil
			if before != nil {
				assert.Equal(t, before, known)
			}
			before = known
		})
	}
}

// Callers who do not see all employees have nothing to do with webhooks.
func TestWebhooksNeedFullVisibility(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	b := newFixture(t, r.URL, r.caFile, "127.0.0.0/8")
	id := b.webhook.GetId()
	operations := map[string]func(ctx context.Context) error{
		"list": func(ctx context.Context) error {
			_, err := b.handler.ListWebhooks(ctx, &platformv1.ListWebhooksRequest{})
			return err
		},
		"get": func(ctx context.Context) error {
			_, err := b.handler.GetWebhook(ctx, &platformv1.GetWebhookRequest{Id: id})
			return err
		},
		"create": func(ctx context.Context) error {
			_, err := b.handler.CreateWebhook(ctx, &platformv1.Webhook{Name: "mine", Url: r.URL})
			return err
		},
		"update": func(ctx context.Context) error {
			_, err := b.handler.UpdateWebhook(ctx, &platformv1.UpdateWebhookRequest{Id: id, Body: &platformv1.Webhook{Name: "mine", Url: r.URL}})
			return err
		},
		"rotate": func(ctx context.Context) error {
			_, err := b.handler.RotateWebhookSecret(ctx, &platformv1.RotateWebhookSecretRequest{Id: id})
			return err
		},
		"delete": func(ctx context.Context) error {
			_, err := b.handler.DeleteWebhook(ctx, &platformv1.DeleteWebhookRequest{Id: id})
			return err
		},
	}
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			for _, scope := range []rowvisibility.Scope{rowvisibility.Group, rowvisibility.Own} {
				p := &authn.Principal{Tenant: 1, Subject: "caller", PersonID: 7, Rows: string(scope)}
				err := operation(authn.With(tenant.With(t.Context(), 1), p, ""))
				assert.True(t, fault.HasCode(err, CodeVisibility), err)
				assert.True(t, fault.HasStatus(err, 403), err)
			}
		})
	}
	all := authn.With(b.ctx, &authn.Principal{Tenant: 1, Subject: "caller", PersonID: 7, Rows: string(rowvisibility.All)}, "")
	found, err := b.handler.ListWebhooks(all, &platformv1.ListWebhooksRequest{})
	require.NoError(t, err)
	assert.Len(t, found.GetItems(), 1)
	assert.Equal(t, r.URL, found.GetItems()[0].GetUrl())
}

package faults

import (
	"encoding/pem"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/testkit/smtptest"
	"github.com/rotaloom/rotaloom/tests/launch"
)

// hook is a slow receiver of messages.
type hook struct {
	*httptest.Server
	caFile string

	mu     sync.Mutex
	secret string
	// got holds the received bodies, by their webhook-id.
	got map[string][]string
	// wrong holds the errors of messages without a valid signature.
	wrong []error
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{got: map[string][]string{}}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // The sender was killed.
		}
		time.Sleep(rand.N(50 * time.Millisecond)) // the work of a receiver, during which the sender may be killed
		h.mu.Lock()
		defer h.mu.Unlock()
		key, err := standardwebhooks.NewWebhook(h.secret)
		if err == nil {
			err = key.Verify(body, r.Header)
		}
		if err != nil {
			h.wrong = append(h.wrong, err)
		}
		id := r.Header.Get(standardwebhooks.HeaderWebhookID)
		h.got[id] = append(h.got[id], string(body))
	}))
	t.Cleanup(h.Close)
	h.caFile = filepath.Join(t.TempDir(), "hook-ca.pem")
	require.NoError(t, os.WriteFile(h.caFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.Certificate().Raw}), 0o600))
	return h
}

// The process that sends is killed at random moments, again and again. Every accepted message
// arrives. A message that arrives twice has the same id both times, so that receivers can recognise
// it.
func TestNotifierIsKilled(t *testing.T) {
	mails, hook := smtptest.Start(t, false, "rotaloom", "a password"), newHook(t)
	w := newFixture(t,
		"ROTALOOM_SMTP_HOST="+mails.Host, fmt.Sprintf("ROTALOOM_SMTP_PORT=%d", mails.Port), "ROTALOOM_SMTP_CA_FILE="+mails.CAFile,
		"ROTALOOM_SMTP_USERNAME=rotaloom", "ROTALOOM_SMTP_PASSWORD=a password", "ROTALOOM_SMTP_FROM=roster@example.com",
		"ROTALOOM_WEBHOOK_NETWORKS=127.0.0.0/8", "ROTALOOM_WEBHOOK_CA_FILE="+hook.caFile,
		"ROTALOOM_DELIVERY_LEASE=2s", "ROTALOOM_DELIVERY_RETRY_FIRST=100ms", "ROTALOOM_DELIVERY_RETRY_MAX=1s", "ROTALOOM_DELIVERY_POLL_EVERY=100ms",
	)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	var created struct {
		Secret string `json:"secret"`
	}
	w.retry("the webhook is there", func() error {
		_, err := w.api.Call(w.ctx, http.MethodPost, "/v1/platform/webhooks", map[string]any{"name": "hook", "url": hook.URL}, &created)
		return err
	})
	hook.mu.Lock()
	hook.secret = created.Secret
	hook.mu.Unlock()
	var notification struct {
		ID int64 `json:"notificationId"`
	}
	_, err := w.api.Call(w.ctx, http.MethodPost, "/v1/commons/generic_notifications", map[string]any{
		"name": "Told", "subject": "Number {{number}}", "longMessage": "This is {{number}}.", "priority": "Low", "resendTypes": "Do not suppress duplicates",
	}, &notification)
	require.NoError(t, err)

	kills, hits, accepted := byForm(6, 20, 20), 0, map[string]bool{}
	for round := 0; hits < kills; round++ {
		require.Less(t, round, 4*kills, "the moments are never while something is sent")
		for message := range 10 {
			accepted[w.notify(notification.ID, round*10+message)] = true
		}
		if waiting := w.countUndelivered(); waiting > 0 {
			left := 1 + random.IntN(waiting)
			launch.Await(t, waitTimeout, fmt.Sprintf("%d of %d wait", left, waiting), func() bool { return w.countUndelivered() <= left })
		}
		w.Services["platform"].Kill(t)
		if w.countUndelivered() > 0 {
			hits++
		}
		w.Start("platform")
	}
	launch.Await(t, waitTimeout, "all that waits is delivered", func() bool { return w.countUndelivered() == 0 })
	w.requireDelivered(accepted, mails, hook)
}

// notify sends to three addresses and the webhook, and returns the message's id.
func (w *fixture) notify(id int64, number int) string {
	w.t.Helper()
	var out struct {
		Messages []struct {
			MessageID string `json:"messageId"`
			Pending   int    `json:"pending"`
		} `json:"messages"`
	}
	var addresses []string
	for i := range 3 {
		addresses = append(addresses, fmt.Sprintf("a%d-%d@example.com", number, i))
	}
	w.retry("a message is accepted", func() error {
		_, err := w.api.Call(w.ctx, http.MethodPost, fmt.Sprintf("/v1/platform/messaging/generic_notifications/%d/notify", id),
			map[string]any{"additionalRecipients": addresses, "notifyData": map[string]any{"number": number}}, &out)
		return err
	})
	require.Len(w.t, out.Messages, 1)
	require.Equal(w.t, 4, out.Messages[0].Pending)
	return out.Messages[0].MessageID
}

func (w *fixture) countUndelivered() (n int) {
	w.t.Helper()
	w.read("platform", `SELECT count(*) FROM notification_delivery WHERE state <> 'DELIVERED'`, &n)
	return n
}

// read reads one value from the database of a service, without row-level security.
func (w *fixture) read(service, sql string, to any) {
	w.t.Helper()
	conn, err := pgx.Connect(w.ctx, w.Postgres.AdminURL(service))
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, conn.Close(w.ctx)) }()
	require.NoError(w.t, conn.QueryRow(w.ctx, sql).Scan(to))
}

// requireDelivered compares the messages that arrived with the log.
func (w *fixture) requireDelivered(accepted map[string]bool, mails *smtptest.Server, hook *hook) {
	w.t.Helper()
	var logged map[string]string
	w.read("platform", `SELECT jsonb_object_agg(delivery_id, channel) FROM notification_delivery`, &logged)
	var messages []string
	w.read("platform", `SELECT array_agg(DISTINCT message_id::text) FROM notification_delivery`, &messages)
	for id := range accepted {
		assert.Contains(w.t, messages, id, "each accepted message is in the log")
	}
	arrived, texts := map[string]int{}, map[string]string{}
	for _, m := range mails.Mails() {
		id := strings.TrimSuffix(strings.TrimPrefix(m.Header.Get("Message-Id"), "<"), "@example.com>")
		arrived[id]++
		if before, again := texts[id]; again {
			assert.Equal(w.t, before, m.To+m.Body, "a repeated mail is the same")
		}
		texts[id] = m.To + m.Body
	}
	hook.mu.Lock()
	defer hook.mu.Unlock()
	assert.Empty(w.t, hook.wrong)
	for id, bodies := range hook.got {
		arrived[id] += len(bodies)
		for _, body := range bodies {
			assert.Equal(w.t, bodies[0], body, "a repeated message is the same")
		}
	}
	again := 0
	for id, times := range arrived {
		assert.Contains(w.t, logged, id, "what arrived is in the log")
		again += times - 1
	}
	for id, channel := range logged {
		assert.Positive(w.t, arrived[id], "%s %s is lost", channel, id)
	}
	w.t.Logf("%d messages, %d deliveries, %d of them arrived again", len(messages), len(logged), again)
}

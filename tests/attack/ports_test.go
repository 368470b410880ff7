package attack

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/tests/launch"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// An operator may allow webhooks into its own network. Even then, callers cannot use them to scan
// ports: a port that refuses, a silent one, and one with another protocol fail with the same words
// after the same time.
func TestWebhooksTellNothingOfPorts(t *testing.T) {
	t.Parallel()
	w := newFixture(t, "--platform-webhook-networks=127.0.0.0/8")
	listen := func(answer string) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		t.Cleanup(func() { listener.Close() })
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				t.Cleanup(func() { conn.Close() })
				_, _ = fmt.Fprint(conn, answer) // The caller may have given up.
			}
		}()
		return listener.Addr().String()
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	messages := map[string]string{}
	for port, address := range map[string]string{
		"closed": closed.Addr().String(), "silent": listen(""), "another protocol": listen("220 mail.example.org ESMTP\r\n"),
	} {
		messages[port] = w.hook(t, strings.ReplaceAll(port, " ", "-"), address)
	}
	began, shown, texts := time.Now(), map[string]time.Duration{}, map[string]string{}
	launch.Await(t, time.Minute, "all attempts have failed", func() bool {
		for port, message := range messages {
			if shown[port] == 0 {
				if texts[port] = w.failure(t, message); texts[port] != "" {
					shown[port] = time.Since(began)
				}
			}
		}
		return len(shown) == len(messages)
	})
	for port, text := range texts {
		assert.Equal(t, texts["silent"], text, port)
	}
	for port, after := range shown {
		assert.InDelta(t, shown["silent"].Seconds(), after.Seconds(), 5, "%s is shown after %s, and silent after %s", port, after, shown["silent"])
	}
	w.requireUnharmed(t)
}

// hook creates a webhook and a notification for it, sends the notification, and returns the
// message's id.
func (w *fixture) hook(t *testing.T, name, address string) string {
	t.Helper()
	name = scenario.Unique(name)
	var notification struct {
		ID int64 `json:"notificationId"`
	}
	w.create(t, "/v1/commons/generic_notifications", fmt.Sprintf(`{"name": %q, "subject": "S", "priority": "Low", "resendTypes": "Do not suppress duplicates"}`, name), &notification)
	w.create(t, "/v1/platform/webhooks", fmt.Sprintf(`{"name": %q, "url": "https://%s/hook", "notifications": [{"qualifier": %q}]}`, name, address, name), nil)
	var sent struct {
		Messages []struct {
			MessageID string `json:"messageId"`
		} `json:"messages"`
	}
	w.create(t, fmt.Sprintf("/v1/platform/messaging/generic_notifications/%d/notify", notification.ID), `{}`, &sent)
	require.Len(t, sent.Messages, 1)
	return sent.Messages[0].MessageID
}

// failure returns the error of the last attempt to deliver a message, or "" before an attempt has
// failed.
func (w *fixture) failure(t *testing.T, message string) string {
	t.Helper()
	var log struct {
		Deliveries []struct {
			Error    string
			Attempts int
		}
	}
	_, err := w.admin.Call(t.Context(), http.MethodPost, "/v1/platform/messaging/deliveries/multi_read",
		scenario.Object{"where": scenario.Object{"messageId": message}}, &log)
	require.NoError(t, err)
	require.Len(t, log.Deliveries, 1)
	return log.Deliveries[0].Error
}

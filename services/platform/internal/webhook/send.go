package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/delivery"
)

const (
	// timeout bounds a request, as Standard Webhooks recommends.
	timeout = 15 * time.Second
	// maxResponse is the largest part of a response that is read, and maxHeaders the largest headers, in bytes.
	maxResponse = 16 << 10
	maxHeaders  = 16 << 10
)

// Transport delivers messages to webhooks.
type Transport struct {
	pool   *pg.Pool
	client *http.Client
	clock  clock.Clock
}

// NewTransport returns a Transport. It follows no redirects and ignores proxies from the environment, because
// both would bypass the check of addresses.
func NewTransport(cfg Config, pool *pg.Pool, clk clock.Clock) (*Transport, error) {
	guard, err := newGuard(cfg.Networks)
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("certificate authorities: %w", err)
	}
	if cfg.CAFile != "" {
		pem, err := os.ReadFile(cfg.CAFile)
		if err != nil {
			return nil, fmt.Errorf("webhook-ca-file: %w", err)
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("webhook-ca-file: %s contains no certificate", cfg.CAFile)
		}
	}
	return &Transport{pool: pool, clock: clk, client: &http.Client{
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext: guard.dialer().DialContext, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout: 10 * time.Second, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeaders,
			MaxIdleConnsPerHost: 2, MaxIdleConns: 100, IdleConnTimeout: time.Minute,
		},
	}}, nil
}

// endpoint is a webhook with the secrets that sign its requests.
type endpoint struct {
	webhook *platformv1.Webhook
	version int64
	secrets []string
}

func (t *Transport) endpoint(ctx context.Context, d *delivery.Delivery) (*endpoint, error) {
	var body []byte
	var secret, former string
	var version int64
	var until time.Time
	err := t.pool.QueryRow(ctx, `SELECT body, version, secret, former_secret, CASE WHEN isfinite(former_until) THEN former_until ELSE 'epoch' END
		FROM webhook WHERE tenant_id = $1 AND id = $2`, d.Tenant, d.WebhookID).Scan(&body, &version, &secret, &former, &until)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, delivery.Refused("The webhook was deleted.")
	}
	if err != nil {
		return nil, fmt.Errorf("read the webhook: %w", err)
	}
	e := &endpoint{webhook: &platformv1.Webhook{}, version: version, secrets: []string{secret}}
	if former != "" && t.clock.Now().Before(until) {
		e.secrets = append(e.secrets, former)
	}
	if err := proto.Unmarshal(body, e.webhook); err != nil {
		return nil, fmt.Errorf("read the webhook: %w", err)
	}
	if !e.webhook.GetActive() {
		return nil, delivery.Refused("The webhook is not active.")
	}
	return e, nil
}

// Send posts a message to its webhook. 2xx is success, 410 deactivates the webhook, and all other results,
// including redirects, are retried.
func (t *Transport) Send(ctx context.Context, d *delivery.Delivery) (string, error) {
	e, err := t.endpoint(ctx, d)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.webhook.GetUrl(), bytes.NewReader(d.Content.GetPayload()))
	if err != nil {
		return "", delivery.Refused("The URL of the webhook cannot be called.")
	}
	if err := sign(request, d, e.secrets, t.clock.Now()); err != nil {
		return "", err
	}
	response, err := t.client.Do(request)
	if err != nil {
		return "", unreachable(err)
	}
	defer response.Body.Close()
	// A connection is only reused after the response was read.
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxResponse))
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
		return response.Status, nil
	case status == http.StatusGone:
		if err := t.deactivate(ctx, d, e); err != nil {
			return "", err
		}
		return "", delivery.Refused(response.Status + ": the webhook is deactivated.")
	default:
		return "", &delivery.Error{Message: "The webhook returned " + response.Status + ".", RetryAfter: retryAfter(response.Header, t.clock.Now())}
	}
}

// unreachable returns the error that tenants see if a webhook could not be called. Only the operator may learn
// whether a port is closed, filtered, or does not use TLS, which addresses names have inside the operator's
// networks, and the URL, which often contains a secret. All such failures have the same message, and appear
// after the same time.
func unreachable(err error) error {
	var call *url.Error
	if errors.As(err, &call) {
		err = call.Err
	}
	out := &delivery.Error{Message: "The webhook could not be reached. The operator can find the reason in the log.", Conceal: timeout, Cause: err}
	var lookup *net.DNSError
	switch {
	case errors.Is(err, errNotPublic):
		out.Message = "The address of the webhook " + errNotPublic.Error() + "."
	case errors.As(err, &lookup):
		out.Message = "The host of the webhook cannot be resolved at the moment."
	}
	return out
}

// sign sets the headers of Standard Webhooks. All attempts have the same id; the timestamp is the time of the
// attempt.
func sign(request *http.Request, d *delivery.Delivery, secrets []string, now time.Time) error {
	id := d.UID.String()
	var signatures []string
	for _, secret := range secrets {
		key, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return errors.New("the secret of the webhook cannot be read")
		}
		signature, err := key.Sign(id, now, d.Content.GetPayload())
		if err != nil {
			return fmt.Errorf("sign a message: %w", err)
		}
		signatures = append(signatures, signature)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Rotaloom")
	request.Header.Set(standardwebhooks.HeaderWebhookID, id)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return nil
}

// retryAfter returns the pause that the other side requests, in seconds or as a date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

const deactivation pg.Unaudited = "the webhook itself requests this with 410; the log of deliveries contains the response"

// deactivate deactivates a webhook, unless it was changed since it was read.
func (t *Transport) deactivate(ctx context.Context, d *delivery.Delivery, e *endpoint) error {
	e.webhook.Active = proto.Bool(false)
	body, err := proto.Marshal(e.webhook)
	if err != nil {
		return fmt.Errorf("write the webhook: %w", err)
	}
	if _, err := deactivation.Exec(ctx, t.pool, `UPDATE webhook SET body = $3, version = version + 1, updated_at = now()
		WHERE tenant_id = $1 AND id = $2 AND version = $4`, d.Tenant, d.WebhookID, body, e.version); err != nil {
		return fmt.Errorf("write the webhook: %w", err)
	}
	return nil
}

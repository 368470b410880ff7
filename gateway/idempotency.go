package gateway

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/gateway/idempotencykey"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/backoff"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc/client"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

const (
	// headerReplayed marks a stored response.
	headerReplayed = "Idempotent-Replayed"
	// maxStoredResponse is the largest response that the platform service stores, in bytes.
	maxStoredResponse = 4 << 20
	// leaseMargin is the part of a key's lease beyond the longest time of a request.
	leaseMargin = 30 * time.Second
	// settleTimeout bounds the time to store a response. A key that is not settled by then blocks the same
	// request until its lease ends.
	settleTimeout = 5 * time.Second
	// settleBackoff and settleMaxBackoff bound the pauses between attempts to settle a key.
	settleBackoff    = 50 * time.Millisecond
	settleMaxBackoff = 500 * time.Millisecond
	// runningRetry is the Retry-After, in seconds, of a request that repeats one that still runs.
	runningRetry = 1
)

// idempotency runs each request with an Idempotency-Key once.
type idempotency struct {
	// keys claims the keys; nil refuses such requests.
	keys      platformv1.IdempotencyServiceClient
	lease     time.Duration // how long a key is claimed
	maxStored int           // largest response that is stored, in bytes
	log       *slog.Logger
}

// recording buffers the response to a request with an Idempotency-Key until the response is stored, so that a
// client that received it always gets the same one again.
type recording struct {
	*idempotency
	w         *response
	ctx       context.Context // for calls with the user's token
	key       string
	operation string
	attempt   int64
	body      []byte
	// released reports that the response goes to the client directly: it is too large to store, or stored
	// already.
	released bool
}

// runOnce is the step that runs each request with an Idempotency-Key once.
func (i *idempotency) runOnce(next handler) handler {
	return func(ctx context.Context, w *response, r *request) {
		key, bad := i.requestKey(r)
		if bad != nil {
			w.fail(bad)
			return
		}
		if key != "" && !i.claim(ctx, w, r, key) {
			return
		}
		next(ctx, w, r)
		w.recording.end()
	}
}

// requestKey returns the key of a request, or "" when it has no key or the route ignores it.
func (i *idempotency) requestKey(r *request) (string, *fault.Error) {
	if !r.route.TakesKey() {
		return "", nil
	}
	key, bad := idempotencykey.Parse(r.Header)
	switch {
	case bad != nil || key == "":
		return "", bad
	case headers.Token(r.Header) == "":
		// Without a user, the edge would claim the key for itself.
		return "", authn.Missing()
	case i.keys == nil:
		return "", fault.Unavailable("Requests with an Idempotency-Key are not served here.", time.Minute)
	}
	return key, nil
}

// claim claims the key of a request. It reports whether to run the request; if not, the response is already
// written.
func (i *idempotency) claim(ctx context.Context, w *response, r *request, key string) bool {
	c := &recording{idempotency: i, w: w, ctx: asUser(ctx, r), key: key, operation: r.route.Policy.Name}
	claim, err := i.keys.ClaimIdempotencyKey(c.ctx, &platformv1.ClaimIdempotencyKeyRequest{
		Operation: c.operation, Key: key, Fingerprint: idempotencykey.Fingerprint(key, r.Method, r.path, r.URL.RawQuery, r.condition, r.body.parts()...), LeaseMs: i.lease.Milliseconds(),
	})
	switch {
	case err != nil:
		f := fault.FromError(err)
		if f.Code == fault.CodeKeyRunning {
			w.Header().Set("Retry-After", strconv.Itoa(runningRetry))
		}
		w.fail(f)
		return false
	case claim.GetResponse() != nil:
		w.replay(claim.GetResponse())
		return false
	}
	c.attempt = claim.GetAttempt()
	w.recording = c
	return true
}

// asUser returns a context in which the edge calls services with the user's token.
func asUser(ctx context.Context, r *request) context.Context {
	md := metadata.Pairs(client.HeaderRequestID, r.id.ID)
	if token := headers.Token(r.Header); token != "" {
		md.Set(client.HeaderAuthorization, "Bearer "+token)
	}
	return metadata.NewOutgoingContext(ctx, md)
}

// replay writes a stored response again.
func (w *response) replay(a *platformv1.StoredResponse) {
	h := w.Header()
	h.Set(headerReplayed, "true")
	if a.GetContentLocation() != "" {
		h.Set("Content-Location", a.GetContentLocation())
	}
	if a.GetBodyOmitted() {
		w.fail(fault.Conflict(fault.CodeResponseNotStored, "The request with this Idempotency-Key was carried out with status "+
			strconv.Itoa(int(a.GetStatus()))+". Its response was too large to store. Read the objects that it changed."))
		return
	}
	if len(a.GetBody()) > 0 {
		h.Set("Content-Type", contentType)
		h.Set("Content-Length", strconv.Itoa(len(a.GetBody())))
	}
	w.WriteHeader(int(a.GetStatus()))
	if len(a.GetBody()) > 0 {
		_, _ = w.Write(a.GetBody())
	}
}

// holds reports whether the response is buffered.
func (c *recording) holds() bool { return c != nil && !c.released }

// take buffers a part of the response. It returns false if the part must go to the client.
func (c *recording) take(p []byte) bool {
	if !c.holds() {
		return false
	}
	if len(c.body)+len(p) <= c.maxStored {
		c.body = append(c.body, p...)
		return true
	}
	// The response is too large: store only that the request ran.
	c.settle(true)
	c.release()
	return false
}

// drop discards the buffered response, so that an error can replace it.
func (c *recording) drop() {
	c.body = nil
	c.w.status = 0
}

// end stores the response and sends it.
func (c *recording) end() {
	if !c.holds() {
		return
	}
	c.settle(false)
	c.release()
}

// release sends the buffered response. A client that has disconnected may repeat its request.
func (c *recording) release() {
	c.released = true
	if c.w.status == 0 {
		return
	}
	c.w.ResponseWriter.WriteHeader(c.w.status)
	if len(c.body) > 0 {
		_, _ = c.w.body.Write(c.body)
		c.body = nil
	}
}

// settle stores the response, or releases the key if the same request might get another response later. If that
// fails, the caller still gets its response, because the request was carried out.
func (c *recording) settle(omitted bool) {
	req := &platformv1.SettleIdempotencyKeyRequest{Operation: c.operation, Key: c.key, Attempt: c.attempt}
	if replayable(c.w.status) {
		req.Response = &platformv1.StoredResponse{
			Status: int32(c.w.status), ContentLocation: c.w.Header().Get("Content-Location"),
			Body: c.body, BodyOmitted: omitted,
		}
		if omitted {
			req.Response.Body = nil
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), settleTimeout)
	defer cancel()
	pause := backoff.Backoff{First: settleBackoff, Max: settleMaxBackoff}
	_, err := c.keys.SettleIdempotencyKey(ctx, req)
	for err != nil && fault.HasStatus(fault.FromError(err), http.StatusServiceUnavailable) && pause.Wait(ctx) == nil {
		_, err = c.keys.SettleIdempotencyKey(ctx, req)
	}
	if err != nil {
		c.log.ErrorContext(c.ctx, "the response to a request with an Idempotency-Key was not stored", "operation", c.operation, "error", err)
	}
}

// replayable reports whether a repeated request gets the same response: successes, and errors that follow from
// the request itself. Permissions can change, so 401 and 403 are not stored.
func replayable(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return status >= 200 && status < 300
}

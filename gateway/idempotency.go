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
	// headerReplayed marks a response that was given before.
	headerReplayed = "Idempotent-Replayed"
	// maxStoredResponse is what the service takes, in bytes.
	maxStoredResponse = 4 << 20
	// leaseMargin is what a key is claimed for beyond the time that a request
	// may take.
	leaseMargin = 30 * time.Second
	// settleTimeout is how long the keeping of a response may take. A key that is not settled
	// by then keeps the same request away until its lease ends.
	settleTimeout = 5 * time.Second
	// settleBackoff and settleMaxBackoff lie between attempts of that.
	settleBackoff    = 50 * time.Millisecond
	settleMaxBackoff = 500 * time.Millisecond
	// runningRetry is when a request may come again whose first one still runs,
	// in seconds.
	runningRetry = 1
)

// idempotency carries requests with an Idempotency-Key out once.
type idempotency struct {
	// keys is where keys are claimed; nil serves no such requests.
	keys      platformv1.IdempotencyServiceClient
	lease     time.Duration // what a key is claimed for
	maxStored int           // bytes of a response that is kept
	log       *slog.Logger
}

// recording is the response to a request with an Idempotency-Key. It is held back until
// it is kept, so that who has it can rely on getting the same again.
type recording struct {
	*idempotency
	w         *response
	ctx       context.Context // for calls with the user's token
	key       string
	operation string
	attempt   int64
	body      []byte
	// released says that the response goes out as it comes: it is too large to be
	// kept, or kept already.
	released bool
}

// once is the step that carries requests with an Idempotency-Key out once.
func (i *idempotency) once(next handler) handler {
	return func(ctx context.Context, w *response, r *request) {
		key, bad := i.keyOf(r)
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

// keyOf returns the key of a request, "" when it has none, or none that counts.
func (i *idempotency) keyOf(r *request) (string, *fault.Error) {
	if !r.route.TakesKey() {
		return "", nil
	}
	key, bad := idempotencykey.Parse(r.Header)
	switch {
	case bad != nil || key == "":
		return "", bad
	case headers.Token(r.Header) == "":
		// Without a user the edge would claim it for itself.
		return "", authn.Missing()
	case i.keys == nil:
		return "", fault.Unavailable("Requests with an Idempotency-Key are not served here.", time.Minute)
	}
	return key, nil
}

// claim claims the key of a request. It reports whether the request is to be carried
// out; if not, the response is written.
func (i *idempotency) claim(ctx context.Context, w *response, r *request, key string) bool {
	c := &recording{idempotency: i, w: w, ctx: asUser(ctx, r), key: key, operation: r.route.Policy.Name}
	claim, err := i.keys.ClaimIdempotencyKey(c.ctx, &platformv1.ClaimIdempotencyKeyRequest{
		Operation: c.operation, Key: key, Fingerprint: idempotencykey.Fingerprint(key, r.Method, r.path, r.URL.RawQuery, r.condition, r.body.bytes()), LeaseMs: i.lease.Milliseconds(),
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

// asUser is a context for calls of the edge that are made with the token of the
// user.
func asUser(ctx context.Context, r *request) context.Context {
	md := metadata.Pairs(client.HeaderRequestID, r.id.ID)
	if token := headers.Token(r.Header); token != "" {
		md.Set(client.HeaderAuthorization, "Bearer "+token)
	}
	return metadata.NewOutgoingContext(ctx, md)
}

// replay gives a response again.
func (w *response) replay(a *platformv1.StoredResponse) {
	h := w.Header()
	h.Set(headerReplayed, "true")
	if a.GetContentLocation() != "" {
		h.Set("Content-Location", a.GetContentLocation())
	}
	if a.GetBodyOmitted() {
		w.fail(fault.Conflict(fault.CodeResponseNotStored, "The request with this Idempotency-Key was carried out with status "+
			strconv.Itoa(int(a.GetStatus()))+". Its response was too large to be given again: read what it changed."))
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

// holds reports whether the response is held back.
func (c *recording) holds() bool { return c != nil && !c.released }

// take holds a part of the response back. It returns false for one that goes out.
func (c *recording) take(p []byte) bool {
	if !c.holds() {
		return false
	}
	if len(c.body)+len(p) <= c.maxStored {
		c.body = append(c.body, p...)
		return true
	}
	// That the request was carried out is kept all the same.
	c.settle(true)
	c.release()
	return false
}

// drop forgets what was written so far, so that an error can take its place.
func (c *recording) drop() {
	c.body = nil
	c.w.status = 0
}

// end keeps the response and lets it go out.
func (c *recording) end() {
	if !c.holds() {
		return
	}
	c.settle(false)
	c.release()
}

// release writes what was held back. Whoever has gone may ask again.
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

// settle keeps the response, or gives the key back when the same request could be
// returned differently another time. When that fails the caller gets its response
// all the same: it was carried out.
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
		c.log.ErrorContext(c.ctx, "the response to a request with an Idempotency-Key was not kept", "operation", c.operation, "error", err)
	}
}

// replayable reports whether a request that comes again deserves the same response:
// successes, and refusals that follow from the request itself. Who may not do
// something now may be permitted it later, so 401 and 403 do not last.
func replayable(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return status >= 200 && status < 300
}

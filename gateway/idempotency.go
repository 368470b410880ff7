package gateway

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/grpc/metadata"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

const (
	// headerReplayed marks an answer that was given before.
	headerReplayed = "Idempotent-Replayed"
	// maxKeptAnswer is what the service takes, in bytes.
	maxKeptAnswer = 4 << 20
	// leaseMargin is what a key is claimed for beyond the time that a request
	// may take.
	leaseMargin = 30 * time.Second
	// settleTime is how long the keeping of an answer may take.
	settleTime = 5 * time.Second
	// runningRetry is when a request may come again whose first one still runs,
	// in seconds.
	runningRetry = 1
)

// keyed is a request with an Idempotency-Key. Its answer is held back until it
// is kept, so that who has it can rely on getting the same again.
type keyed struct {
	x         *exchange
	ctx       context.Context // for calls with the user's token
	key       string
	operation string
	attempt   int64
	body      []byte
	// released says that the answer goes out as it comes: it is too large to be
	// kept, or kept already.
	released bool
}

// claimKey claims the key of a request that has one. It reports whether the
// request is to be carried out; if not, it was answered.
func (x *exchange) claimKey(ctx context.Context, r *http.Request) bool {
	if !x.route.takesKey() {
		return true
	}
	key, bad := idempotencyKey(r.Header)
	if bad != nil {
		x.fail(bad)
		return false
	}
	if key == "" {
		return true
	}
	if token(r.Header) == "" {
		// Without a user the edge would claim it for itself.
		x.fail(authn.Missing())
		return false
	}
	if x.edge.keys == nil {
		x.fail(fault.Unavailable("Requests with an Idempotency-Key are not served here.", time.Minute))
		return false
	}
	k := &keyed{x: x, ctx: x.asUser(ctx, r), key: key, operation: x.route.policy.Name}
	claim, err := x.edge.keys.ClaimIdempotencyKey(k.ctx, &platformv1.ClaimIdempotencyKeyRequest{
		Operation: k.operation, Key: key, Fingerprint: x.fingerprint(key, r.URL.RawQuery),
		LeaseMs: (x.edge.cfg.Timeout + leaseMargin).Milliseconds(),
	})
	switch {
	case err != nil:
		f := fault.FromError(err)
		if f.Code == fault.CodeKeyRunning {
			x.Header().Set("Retry-After", strconv.Itoa(runningRetry))
		}
		x.fail(f)
		return false
	case claim.GetAnswer() != nil:
		x.replay(claim.GetAnswer())
		return false
	}
	k.attempt = claim.GetAttempt()
	x.keyed = k
	return true
}

// workContext is what a request works in. One with an Idempotency-Key goes on
// when its client has gone: its answer is what the client will ask for again.
func (x *exchange) workContext(r *http.Request) context.Context {
	if len(r.Header[headerKey]) > 0 && x.route.takesKey() {
		return context.WithoutCancel(x.ctx)
	}
	return x.ctx
}

// asUser is a context for calls of the edge that are made with the token of the
// user.
func (x *exchange) asUser(ctx context.Context, r *http.Request) context.Context {
	md := metadata.Pairs(rpc.HeaderRequestID, x.request.ID)
	if token := token(r.Header); token != "" {
		md.Set(rpc.HeaderAuthorization, "Bearer "+token)
	}
	return metadata.NewOutgoingContext(ctx, md)
}

// replay gives an answer again.
func (x *exchange) replay(a *platformv1.KeptAnswer) {
	h := x.Header()
	h.Set(headerReplayed, "true")
	if a.GetContentLocation() != "" {
		h.Set("Content-Location", a.GetContentLocation())
	}
	if a.GetBodyOmitted() {
		x.fail(fault.Conflict(fault.CodeAnswerNotKept, "The request with this Idempotency-Key was carried out with status "+
			strconv.Itoa(int(a.GetStatus()))+". Its answer was too large to be given again: read what it changed."))
		return
	}
	if len(a.GetBody()) > 0 {
		h.Set("Content-Type", contentType)
		h.Set("Content-Length", strconv.Itoa(len(a.GetBody())))
	}
	x.WriteHeader(int(a.GetStatus()))
	if len(a.GetBody()) > 0 {
		_, _ = x.Write(a.GetBody())
	}
}

// holds reports whether the answer is held back.
func (k *keyed) holds() bool { return k != nil && !k.released }

// take holds a part of the answer back. It answers false for one that goes out.
func (k *keyed) take(p []byte) bool {
	if !k.holds() {
		return false
	}
	if len(k.body)+len(p) <= k.x.edge.cfg.KeptAnswer {
		k.body = append(k.body, p...)
		return true
	}
	// That the request was carried out is kept all the same.
	k.settle(true)
	k.release()
	return false
}

// drop forgets what was written so far, so that an error can take its place.
func (k *keyed) drop() {
	k.body = nil
	k.x.status = 0
}

// end keeps the answer and lets it go out.
func (k *keyed) end() {
	if !k.holds() {
		return
	}
	k.settle(false)
	k.release()
}

// release writes what was held back. Whoever has gone may ask again.
func (k *keyed) release() {
	k.released = true
	if k.x.status == 0 {
		return
	}
	k.x.ResponseWriter.WriteHeader(k.x.status)
	if len(k.body) > 0 {
		_, _ = k.x.paced.Write(k.body)
		k.body = nil
	}
}

// settle keeps the answer, or gives the key back when the same request could be
// answered differently another time. When that fails the caller gets its answer
// all the same: it was carried out.
func (k *keyed) settle(omitted bool) {
	req := &platformv1.SettleIdempotencyKeyRequest{Operation: k.operation, Key: k.key, Attempt: k.attempt}
	if lasting(k.x.status) {
		req.Answer = &platformv1.KeptAnswer{
			Status: int32(k.x.status), ContentLocation: k.x.Header().Get("Content-Location"),
			Body: k.body, BodyOmitted: omitted,
		}
		if omitted {
			req.Answer.Body = nil
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(k.ctx), settleTime)
	defer cancel()
	if _, err := k.x.edge.keys.SettleIdempotencyKey(ctx, req); err != nil {
		k.x.edge.log.ErrorContext(k.x.ctx, "the answer to a request with an Idempotency-Key was not kept", "operation", k.operation, "error", err)
	}
}

// lasting reports whether a request that comes again deserves the same answer:
// successes, and refusals that follow from the request itself. Who may not do
// something now may be permitted it later, so 401 and 403 do not last.
func lasting(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return status >= 200 && status < 300
}

// Package idempotency stores the responses to requests with an Idempotency-Key, so that a repeated request is
// not carried out again.
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/defaults"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// Config contains the limits of stored responses. Zero values mean the defaults.
type Config struct {
	// Keep is how long a response is stored; 24 h.
	Keep time.Duration `name:"idempotency-keep" default:"24h" help:"How long the response to a request with an Idempotency-Key is stored."`
	// KeysPerClient is the number of stored keys of one client; 100,000. The oldest are removed first.
	KeysPerClient int `name:"idempotency-keys" default:"100000" help:"Number of idempotency keys that are stored for one client."`
}

// Handler serves IdempotencyService.
type Handler struct {
	platformv1.UnsafeIdempotencyServiceServer

	cfg      Config
	store    store
	rules    *rowvisibility.Rules
	policies *policy.Table
	clock    clock.Clock
	log      *slog.Logger
}

// Deps are the dependencies of the handler.
type Deps struct {
	Pool *pg.Pool
	// Rules determine the visible employees of callers; Policies contain the permissions of operations.
	Rules    *rowvisibility.Rules
	Policies *policy.Table
	Clock    clock.Clock
	Log      *slog.Logger
}

var _ platformv1.IdempotencyServiceServer = (*Handler)(nil)

// New returns a Handler.
func New(cfg Config, deps Deps) *Handler {
	return &Handler{
		cfg: defaults.Fill(cfg), store: store{deps.Pool}, rules: deps.Rules, policies: deps.Policies, clock: deps.Clock, log: deps.Log,
	}
}

// ClaimIdempotencyKey returns the stored response, or assigns the key to the request. It fails with 409 while
// the first request runs, and with 422 if the key was used for another request. A stored response is returned
// only to callers who still have the permission (otherwise 403) and see the same employees as then (otherwise
// 409).
func (h *Handler) ClaimIdempotencyKey(ctx context.Context, req *platformv1.ClaimIdempotencyKeyRequest) (*platformv1.ClaimIdempotencyKeyResponse, error) {
	k, err := newKey(ctx, req.GetOperation(), req.GetKey())
	if err != nil {
		return nil, err
	}
	m, err := h.policies.Method(req.GetOperation())
	if err != nil {
		return nil, fmt.Errorf("claim a key: %w", err)
	}
	// The visible employees in this operation, which delegations may extend.
	visible, err := h.rules.Visible(authn.WithPermission(ctx, m.Permission))
	if err != nil {
		return nil, err
	}
	sight := visible.Digest()
	if m.Wages.Shown() && mayReadWages(ctx) {
		sight = sha256.Sum256(append(sight[:], "wages"...))
	}
	now := h.clock.Now()
	c := claim{
		key: k, visibility: sight[:], fingerprint: req.GetFingerprint(), attempt: rand.Int64(), now: now,
		leaseUntil: now.Add(time.Duration(req.GetLeaseMs()) * time.Millisecond), expiresAt: now.Add(h.cfg.Keep),
	}
	found, err := h.store.claim(ctx, c)
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return &platformv1.ClaimIdempotencyKeyResponse{Attempt: c.attempt}, nil
	case !found.sameRequest:
		return nil, fault.New(fault.CodeKeyReused, http.StatusUnprocessableEntity,
			"The Idempotency-Key was used for another request. Use a new key for each request.")
	case found.response == nil:
		return nil, fault.Conflict(fault.CodeKeyRunning, "The first request with this Idempotency-Key still runs. Try again in a moment.")
	}
	if err := checkPermission(ctx, m); err != nil {
		return nil, err
	}
	if !found.sameVisibility {
		return nil, fault.Conflict(fault.CodeResponseNotStored, fmt.Sprintf("The request with this Idempotency-Key was carried out with status %d. "+
			"You do not see the same persons as then, so its response cannot be returned again. Read the objects that it changed.", found.response.GetStatus()))
	}
	return &platformv1.ClaimIdempotencyKeyResponse{Response: found.response}, nil
}

// mayReadWages reports whether responses to the caller contain wages.
func mayReadWages(ctx context.Context) bool {
	p, ok := authn.From(ctx)
	return ok && p.Has(policy.WagesRead)
}

// checkPermission refuses callers who may no longer call the operation. A request without a stored response is
// checked by the service itself.
func checkPermission(ctx context.Context, m *policy.Method) error {
	if m.Wages.Needed && !mayReadWages(ctx) {
		return authn.NeedsPermission(policy.WagesRead, m.AccessPoint, m.ForbiddenCode)
	}
	if p, ok := authn.From(ctx); m.Permission != "" && (!ok || !p.Has(m.Permission)) {
		return authn.NeedsPermission(m.Permission, m.AccessPoint, m.ForbiddenCode)
	}
	return nil
}

// SettleIdempotencyKey stores a response or releases the key. A claim that another one has replaced changes
// nothing.
func (h *Handler) SettleIdempotencyKey(ctx context.Context, req *platformv1.SettleIdempotencyKeyRequest) (*emptypb.Empty, error) {
	k, err := newKey(ctx, req.GetOperation(), req.GetKey())
	if err != nil {
		return nil, err
	}
	if a := req.GetResponse(); a != nil {
		err = h.store.storeResponse(ctx, k, req.GetAttempt(), a, h.clock.Now().Add(h.cfg.Keep))
	} else {
		err = h.store.release(ctx, k, req.GetAttempt())
	}
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// key identifies an idempotency key.
type key struct {
	tenantID int64
	id       []byte
	client   string
}

var errNoUser = errors.New("an idempotency key needs a user")

// newKey returns the caller's key for an operation.
func newKey(ctx context.Context, operation, text string) (key, error) {
	p, ok := authn.From(ctx)
	if !ok || p.IsService() || p.Tenant < 1 {
		return key{}, fault.Internal(errNoUser)
	}
	hash := sha256.New()
	for _, part := range []string{p.Client, p.Subject, operation, text} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		hash.Write(size[:])
		hash.Write([]byte(part))
	}
	return key{tenantID: p.Tenant, id: hash.Sum(nil), client: p.Client}, nil
}

const (
	sweepEvery = time.Minute
	sweepBatch = 10_000
	// trimEvery is the number of sweeps between counts of the clients' keys.
	trimEvery = 10
)

// Run removes expired and surplus keys until ctx ends.
func (h *Handler) Run(ctx context.Context) error {
	ctx = tenant.All(ctx)
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for round := 1; ; round++ {
		if err := h.sweep(ctx, round%trimEvery == 0); err != nil && ctx.Err() == nil {
			h.log.WarnContext(ctx, "idempotency keys could not be removed", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (h *Handler) sweep(ctx context.Context, trim bool) error {
	for {
		n, err := h.store.sweep(ctx, h.clock.Now(), sweepBatch)
		if err != nil {
			return err
		}
		if n < sweepBatch {
			break
		}
	}
	if !trim {
		return nil
	}
	return h.store.trim(ctx, h.cfg.KeysPerClient)
}

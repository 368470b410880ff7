// Package idempotency remembers what was returned to requests with an
// Idempotency-Key, so that a request that comes again is not carried out again.
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

// Config bounds what is remembered. Zero values mean the defaults.
type Config struct {
	// Keep is how long a response is remembered; 24 h.
	Keep time.Duration `name:"idempotency-keep" default:"24h" help:"Time for which the response to a request with an Idempotency-Key is remembered."`
	// KeysPerClient is how many keys of one client are remembered; 100,000.
	// The oldest go first.
	KeysPerClient int `name:"idempotency-keys" default:"100000" help:"Number of idempotency keys of one client that are remembered."`
}

// Handler returns the calls of IdempotencyService.
type Handler struct {
	platformv1.UnsafeIdempotencyServiceServer

	cfg      Config
	store    store
	rules    *rowvisibility.Rules
	policies *policy.Table
	clock    clock.Clock
	log      *slog.Logger
}

// Deps are what a Handler works with.
type Deps struct {
	Pool *pg.Pool
	// Rules say whom callers see; Policies say what operations need.
	Rules    *rowvisibility.Rules
	Policies *policy.Table
	Clock    clock.Clock
	Log      *slog.Logger
}

var _ platformv1.IdempotencyServiceServer = (*Handler)(nil)

// New makes a Handler.
func New(cfg Config, deps Deps) *Handler {
	return &Handler{
		cfg: defaults.Fill(cfg), store: store{deps.Pool}, rules: deps.Rules, policies: deps.Policies, clock: deps.Clock, log: deps.Log,
	}
}

// ClaimIdempotencyKey returns what was returned before, or gives the key to the
// request. It fails with 409 while the first request runs, and with 422 when
// the key was used for another request. What was returned is for who may still
// ask for it, 403, and sees whom they saw then, 409.
func (h *Handler) ClaimIdempotencyKey(ctx context.Context, req *platformv1.ClaimIdempotencyKeyRequest) (*platformv1.ClaimIdempotencyKeyResponse, error) {
	k, err := keyOf(ctx, req.GetOperation(), req.GetKey())
	if err != nil {
		return nil, err
	}
	m, err := h.policies.Method(req.GetOperation())
	if err != nil {
		return nil, fmt.Errorf("claim a key: %w", err)
	}
	// Whom the caller sees in the operation, which what is delegated to them widens.
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
			"The Idempotency-Key was used for another request. Send each request with a key of its own.")
	case found.response == nil:
		return nil, fault.Conflict(fault.CodeKeyRunning, "The first request with this Idempotency-Key still runs. Try again in a moment.")
	}
	if err := permitted(ctx, m); err != nil {
		return nil, err
	}
	if !found.sameVisibility {
		return nil, fault.Conflict(fault.CodeResponseNotStored, fmt.Sprintf("The request with this Idempotency-Key was carried out with status %d. "+
			"You do not see the same persons as then, so its response is not given again: read what it changed.", found.response.GetStatus()))
	}
	return &platformv1.ClaimIdempotencyKeyResponse{Response: found.response}, nil
}

// mayReadWages reports whether the caller gets wages in responses.
func mayReadWages(ctx context.Context) bool {
	p, ok := authn.From(ctx)
	return ok && p.Has(policy.WagesRead)
}

// permitted refuses callers who may not call the operation by now. Who does not
// get a kept response is refused by the service itself.
func permitted(ctx context.Context, m *policy.Method) error {
	if m.Wages.Needed && !mayReadWages(ctx) {
		return authn.NeedsPermission(policy.WagesRead, m.AccessPoint, m.ForbiddenCode)
	}
	if p, ok := authn.From(ctx); m.Permission != "" && (!ok || !p.Has(m.Permission)) {
		return authn.NeedsPermission(m.Permission, m.AccessPoint, m.ForbiddenCode)
	}
	return nil
}

// SettleIdempotencyKey keeps a response or gives the key back. A claim that is
// over, because another one followed it, changes nothing.
func (h *Handler) SettleIdempotencyKey(ctx context.Context, req *platformv1.SettleIdempotencyKeyRequest) (*emptypb.Empty, error) {
	k, err := keyOf(ctx, req.GetOperation(), req.GetKey())
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

// key names an idempotency key among all.
type key struct {
	tenantID int64
	id       []byte
	client   string
}

var errNoUser = errors.New("an idempotency key is one of a user")

// keyOf returns the key of the caller with that text for an operation.
func keyOf(ctx context.Context, operation, text string) (key, error) {
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
	// trimEvery is how many sweeps pass before the keys of each client are
	// counted.
	trimEvery = 10
)

// Run removes what is no longer needed, until ctx ends.
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

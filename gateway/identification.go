package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"

	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/gateway/denials"
	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/gateway/metrics"
	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/authclient"
	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// newVerifier returns the verifier with which the edge identifies callers, so that it reads no bodies of
// anonymous clients and knows whose rate to count a request against. It does not know revocations: the services
// check these, and the permissions.
func newVerifier(cfg Config, conns backends.Conns) (*authn.Verifier, error) {
	tokens := authn.Config{Issuer: cfg.Tokens.Issuer, Audience: cfg.Tokens.Audience}
	if conns.OwnAuth != nil {
		tokens.Exchange = authclient.Exchange(conns.OwnAuth)
	}
	keys := authn.NewKeySet(authclient.Keys(conns.Auth), cfg.Clock, cfg.Tokens.KeySetLife)
	return authn.NewVerifier(tokens, keys, authn.NoRevocations{}, cfg.Clock)
}

// identification identifies callers and counts requests against their rates.
type identification struct {
	verifier  *authn.Verifier     // nil when only the services authenticate callers
	throttler *throttle.Throttler // nil when rates are not limited
	metrics   *metrics.Edge
	denials   *denials.Recorder
	proxies   headers.Proxies
}

// check counts the request against the rate of its caller, and refuses unknown callers where a token is
// required. It does both before it reads anything of the body.
//
// Unknown callers count against the rate of their address. So does a token of an external identity provider
// that is not cached: verifying it needs a call to auth, and an anonymous client must not cause more calls than
// its address may make.
func (e *identification) check(ctx context.Context, w *response, r *request) *fault.Error {
	key := throttle.Key{Class: optionsv1.Throttle_THROTTLE_READ}
	public := false
	if r.route != nil {
		public = r.route.Policy.Public
		if class := r.route.Policy.Throttle; class != optionsv1.Throttle_THROTTLE_UNSPECIFIED {
			key.Class = class
		}
	}
	if public || e.verifier == nil {
		return e.take(ctx, w, r, key)
	}
	text := headers.Token(r.Header)
	// A cached token is found by its hash, without parsing it.
	p, known, err := e.verifier.VerifyCached(ctx, text)
	if !known {
		if e.verifier.IsForeign(text) {
			if bad := e.take(ctx, w, r, key); bad != nil {
				return bad
			}
			p, err = e.verifier.Verify(ctx, text)
			return e.noteCaller(r, text, p, err)
		}
		p, err = e.verifier.Verify(ctx, text)
	}
	unknown := e.noteCaller(r, text, p, err)
	if bad := e.take(ctx, w, r, key); bad != nil {
		return bad
	}
	return unknown
}

// noteCaller stores the verified caller, or returns the error and records the denial. A path without an
// operation needs no token.
func (e *identification) noteCaller(r *request, text string, p *authn.Principal, err error) *fault.Error {
	if err == nil {
		r.caller, r.token = p, text
		return nil
	}
	if r.route == nil {
		return nil
	}
	bad := fault.FromError(err)
	if known := authn.DeniedPrincipal(err); known != nil {
		e.denials.Note(known, r.operation(), r.id.ID, bad)
	}
	return bad
}

// take counts the request against the allowance of its caller, the client that the token was issued to, or the
// address of an unknown caller. It refuses the request if the allowance is used up. Every response tells what
// is left. A path without an operation counts as a read.
func (e *identification) take(ctx context.Context, w *response, r *request, key throttle.Key) *fault.Error {
	if e.throttler == nil {
		return nil
	}
	if p := r.caller; p != nil {
		key.Tenant, key.Caller = p.Tenant, callerName(p)
	} else {
		key.Caller = "address:" + e.proxies.Address(r.Request)
	}
	decision := e.throttler.Take(ctx, key)
	decision.Write(w.Header())
	e.metrics.Decided(key.Class, decision.Admitted)
	if decision.Admitted {
		return nil
	}
	bad := fault.TooMany("Too many requests: the rate limit for this class of operations is reached. "+
		"Wait as long as Retry-After says. GET /v1/platform/limits shows the limits.", decision.RetryAfter).WithOAuth("slow_down")
	e.denials.Note(r.caller, r.operation(), r.id.ID, bad)
	return bad
}

// newThrottler returns nil if throttling is off.
func newThrottler(cfg Config, conns backends.Conns, log *slog.Logger) *throttle.Throttler {
	if !cfg.Throttle.Enabled {
		return nil
	}
	return throttle.New(cfg.Throttle, platformv1.NewRateLimitServiceClient(conns.Own), log)
}

// maxCaller is the longest caller name that the platform service accepts, in bytes.
const maxCaller = 200

// callerName returns the client that a token was issued to, or the user if the token names no client.
func callerName(p *authn.Principal) string {
	caller := p.Client
	if caller == "" {
		caller = "user:" + p.Subject
	}
	if len(caller) > maxCaller {
		sum := sha256.Sum256([]byte(caller))
		return "long:" + hex.EncodeToString(sum[:])
	}
	return caller
}

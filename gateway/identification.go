package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"

	"github.com/rotaloom/rotaloom/gateway/backends"
	"github.com/rotaloom/rotaloom/gateway/headers"
	"github.com/rotaloom/rotaloom/gateway/metrics"
	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/authclient"
	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// newVerifier makes what the edge verifies tokens by, so that it reads no body of
// anonymous clients and knows whose rate a request takes from. It has no view of revocations:
// the services have. Whether a caller may do something is theirs to decide, too.
func newVerifier(cfg Config, conns backends.Conns) (*authn.Verifier, error) {
	tokens := authn.Config{Issuer: cfg.Tokens.Issuer, Audience: cfg.Tokens.Audience}
	if conns.OwnAuth != nil {
		tokens.Exchange = authclient.Exchange(conns.OwnAuth)
	}
	keys := authn.NewKeySet(authclient.Keys(conns.Auth), cfg.Clock, cfg.Tokens.KeySetLife)
	return authn.NewVerifier(tokens, keys, authn.NoRevocations{}, cfg.Clock)
}

// identification finds out who is calling, and takes requests from the rates of
// their callers.
type identification struct {
	verifier  *authn.Verifier     // nil leaves it to the services who is let in
	throttler *throttle.Throttler // nil when nobody is throttled
	metrics   *metrics.Edge
	denials   denials
	proxies   headers.Proxies
}

// check takes the request from the rate of its caller, and refuses callers whom
// nobody knows where a token is needed. Both happen before anything of the body is read.
//
// Callers who are not known take from the rate of their address. A token of an
// identity provider that was not seen before does, too: to verify it, auth must be
// asked, and no anonymous client makes us ask more often than the address may.
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
	// What is remembered is looked up by its hash, and not taken apart again.
	p, known, err := e.verifier.VerifyCached(ctx, text)
	if !known {
		if e.verifier.Foreign(text) {
			if bad := e.take(ctx, w, r, key); bad != nil {
				return bad
			}
			p, err = e.verifier.Verify(ctx, text)
			return e.identified(r, text, p, err)
		}
		p, err = e.verifier.Verify(ctx, text)
	}
	unknown := e.identified(r, text, p, err)
	if bad := e.take(ctx, w, r, key); bad != nil {
		return bad
	}
	return unknown
}

// identified notes what was found out about who is calling. A path that names nothing
// asks for no token.
func (e *identification) identified(r *request, text string, p *authn.Principal, err error) *fault.Error {
	if err == nil {
		r.caller, r.token = p, text
		return nil
	}
	if r.route == nil {
		return nil
	}
	bad := fault.FromError(err)
	if known := authn.Refused(err); known != nil {
		e.denials.note(r, known, bad)
	}
	return bad
}

// take takes the request from the allowance of its caller, that is of the client that
// the token was issued to, or of the address while the caller is not known. It refuses
// the request when nothing is left. Every response says what is left. A path that names
// nothing counts as a read.
func (e *identification) take(ctx context.Context, w *response, r *request, key throttle.Key) *fault.Error {
	if e.throttler == nil {
		return nil
	}
	if p := r.caller; p != nil {
		key.Tenant, key.Caller = p.Tenant, callerOf(p)
	} else {
		key.Caller = "address:" + e.proxies.Address(r.Request)
	}
	decision := e.throttler.Take(ctx, key)
	decision.Write(w.Header())
	e.metrics.Decided(key.Class, decision.Admitted)
	if decision.Admitted {
		return nil
	}
	bad := fault.TooMany("Too many requests: the rate of this class of operations is used up. "+
		"Wait as long as Retry-After says, and see GET /v1/platform/limits.", decision.RetryAfter).WithOAuth("slow_down")
	e.denials.note(r, r.caller, bad)
	return bad
}

// newThrottler returns nil when throttling is off.
func newThrottler(cfg Config, conns backends.Conns, log *slog.Logger) *throttle.Throttler {
	if !cfg.Throttle.Enabled {
		return nil
	}
	return throttle.New(cfg.Throttle, platformv1.NewRateLimitServiceClient(conns.Own), log)
}

// maxCaller is the longest name that the platform service takes, in bytes.
const maxCaller = 200

// callerOf is the client that a token was issued to, or the user when it names
// none.
func callerOf(p *authn.Principal) string {
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

package gateway

import (
	"net/http"

	"github.com/rotaloom/rotaloom/gateway/throttle"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/authclient"
	"github.com/rotaloom/rotaloom/pkg/fault"
	optionsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/options/v1"
)

// newVerifier makes what the edge verifies tokens by, so that it reads no body of
// strangers and knows whose rate a request takes from. It has no view of revocations:
// the services have, and tell. Whether a caller may do something is theirs to say, too.
func newVerifier(cfg Config, conns Conns) (*authn.Verifier, error) {
	tokens := authn.Config{Issuer: cfg.TokenIssuer, Audience: cfg.TokenAudience}
	if conns.OwnAuth != nil {
		tokens.Exchange = authclient.Exchange(conns.OwnAuth)
	}
	keys := authn.NewKeySet(authclient.Keys(conns.Auth), clock.System{}, cfg.KeySetLife)
	return authn.NewVerifier(tokens, keys, authn.NoRevocations{}, clock.System{})
}

// enter takes the request from the rate of its caller, and refuses callers whom
// nobody knows where a token is needed. Both happen before anything of the body is read.
//
// Callers who are not known take from the rate of their address. A token of an
// identity provider that was not seen before does, too: to verify it, auth must be
// asked, and no stranger makes us ask more often than the address may.
func (e *Edge) enter(x *exchange, r *http.Request) *fault.Error {
	key := throttle.Key{Class: optionsv1.Throttle_THROTTLE_READ}
	public := false
	if x.route != nil {
		public = x.route.policy.Public
		if class := x.route.policy.Throttle; class != optionsv1.Throttle_THROTTLE_UNSPECIFIED {
			key.Class = class
		}
	}
	if public || e.verifier == nil {
		return e.admit(x, r, key)
	}
	text := token(r.Header)
	// What is remembered is looked up by its hash, and not taken apart again.
	if !e.verifier.Known(text) && e.verifier.Foreign(text) {
		if bad := e.admit(x, r, key); bad != nil {
			return bad
		}
		return x.identify(r, text)
	}
	unknown := x.identify(r, text)
	if bad := e.admit(x, r, key); bad != nil {
		return bad
	}
	return unknown
}

// identify finds out who is calling. A path that names nothing asks for no token.
func (x *exchange) identify(r *http.Request, text string) *fault.Error {
	p, err := x.edge.verifier.Verify(r.Context(), text)
	if err == nil {
		x.principal, x.token = p, text
		return nil
	}
	if x.route == nil {
		return nil
	}
	bad := fault.FromError(err)
	if known := authn.Refused(err); known != nil {
		x.edge.denials.note(x, known, bad)
	}
	return bad
}

// learn takes over what a service said about the token, which knows more of it.
func (x *exchange) learn(f *fault.Error) {
	if x.principal != nil && f.Status == http.StatusUnauthorized {
		x.edge.verifier.Learn(x.token, f)
	}
}

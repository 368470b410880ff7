package authn

import "github.com/rotaloom/rotaloom/pkg/fault"

// Known reports whether a token was verified, or refused, before and is remembered, so
// that Verify asks nobody.
func (v *Verifier) Known(token string) bool {
	_, ok := v.tokens.Get(hash(token))
	return ok
}

// Learn takes over what somebody said about a token that Verify let pass, and who sees
// more than this verifier: that it was revoked, or that it is good no longer. It is for
// the edge, which has no view of revocations; the services have.
func (v *Verifier) Learn(token string, err error) {
	switch {
	case fault.HasCode(err, fault.CodeRevoked):
		v.tokens.revoke(hash(token))
	case fault.HasCode(err, fault.CodeUnauthenticated):
		v.tokens.Remove(hash(token))
	}
}

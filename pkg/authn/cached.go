package authn

import (
	"context"
	"crypto/sha256"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// VerifyCached is Verify for a token that was verified, or refused, before and is
// remembered: nobody is asked. Nothing is said of other tokens.
func (v *Verifier) VerifyCached(ctx context.Context, token string) (p *Principal, known bool, err error) {
	if key, bad := keyOf(token); bad == nil {
		return v.cached(ctx, key)
	}
	return nil, false, nil
}

func (v *Verifier) cached(ctx context.Context, key [sha256.Size]byte) (p *Principal, known bool, err error) {
	e, ok := v.tokens.Get(key)
	switch {
	case !ok:
		return nil, false, nil
	case e.principal == nil:
		return nil, true, invalid(errRefused)
	case e.revoked:
		return nil, true, revokedFrom(e.principal)
	}
	if err := v.checkRevoked(ctx, e.principal); err != nil {
		return nil, true, err
	}
	return e.principal, true, nil
}

// Invalidate takes over what somebody said about a token that Verify let pass, and who sees
// more than this verifier: that it was revoked, or that it is good no longer. It is for
// the edge, which has no view of revocations; the services have.
func (v *Verifier) Invalidate(token string, err error) {
	switch {
	case fault.HasCode(err, fault.CodeRevoked):
		v.tokens.revoke(hash(token))
	case fault.HasCode(err, fault.CodeUnauthenticated):
		v.tokens.Remove(hash(token))
	}
}

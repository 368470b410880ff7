package authn

import (
	"context"
	"crypto/sha256"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

// VerifyCached returns the cached result for a token that Verify accepted or rejected before,
// without asking auth. known is false for all other tokens.
func (v *Verifier) VerifyCached(ctx context.Context, token string) (p *Principal, known bool, err error) {
	if key, bad := cacheKey(token); bad == nil {
		return v.lookup(ctx, key)
	}
	return nil, false, nil
}

func (v *Verifier) lookup(ctx context.Context, key [sha256.Size]byte) (p *Principal, known bool, err error) {
	e, ok := v.tokens.Get(key)
	switch {
	case !ok:
		return nil, false, nil
	case e.principal == nil:
		return nil, true, invalid(errRejectedBefore)
	case e.revoked:
		return nil, true, revokedFault(e.principal)
	}
	if err := v.checkRevoked(ctx, e.principal); err != nil {
		return nil, true, err
	}
	return e.principal, true, nil
}

// Invalidate applies the error of a service about a token that Verify accepted: the token was
// revoked, or is no longer valid. It is for the edge, which has no view of revocations; the
// services have one.
func (v *Verifier) Invalidate(token string, err error) {
	switch {
	case fault.HasCode(err, fault.CodeRevoked):
		v.tokens.revoke(hash(token))
	case fault.HasCode(err, fault.CodeUnauthenticated):
		v.tokens.Remove(hash(token))
	}
}

package authn

import "errors"

// errRevoked is the cause of the error for a revoked token.
var errRevoked = errors.New("the token was revoked")

// denied is the cause of an error whose recipient is known although they were not authenticated.
type denied struct {
	principal *Principal
	cause     error
}

// Error returns the text of the cause.
func (e *denied) Error() string {
	if e.cause == nil {
		return "denied"
	}
	return e.cause.Error()
}

// Unwrap returns the cause.
func (e *denied) Unwrap() error { return e.cause }

// DeniedTo marks an error for the audit log of the principal's tenant, although the caller was not
// authenticated. Fields of the principal that are not certain are empty. The cause may be nil.
func DeniedTo(p *Principal, cause error) error { return &denied{p, cause} }

// DeniedPrincipal returns the principal that an error was returned to, or nil if it is not known.
// It is known for an expired or revoked token with a valid signature, and for errors from DeniedTo.
// The contents of other tokens prove nothing.
func DeniedPrincipal(err error) *Principal {
	var e *denied
	if errors.As(err, &e) {
		return e.principal
	}
	return nil
}

// expiredCause returns the cause of the error for claims that have expired. It names the principal only
// if the claims are valid otherwise.
func (v *Verifier) expiredCause(c *Claims, cause error) error {
	if c.validate(v.cfg.Issuer, v.cfg.Audience, c.Expiry.Time(), v.cfg.Leeway) != nil {
		return cause
	}
	return DeniedTo(c.principal(), cause)
}

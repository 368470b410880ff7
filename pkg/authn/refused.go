package authn

import "errors"

// errRevoked is why a token is over that has not expired.
var errRevoked = errors.New("the token was revoked")

// refused is the cause of an error of which it is known to whom it was returned,
// although they are not authenticated.
type refused struct {
	principal *Principal
	cause     error
}

// Error is that of the cause.
func (e *refused) Error() string {
	if e.cause == nil {
		return "refused"
	}
	return e.cause.Error()
}

// Unwrap returns the cause.
func (e *refused) Unwrap() error { return e.cause }

// RefusedTo returns the cause of an error that belongs into the audit trail of
// the principal's tenant, although nobody was authenticated. Of the principal,
// what is not known for certain is empty. The cause behind it may be nil.
func RefusedTo(p *Principal, cause error) error { return &refused{p, cause} }

// Refused returns to whom an error was returned: whose token it was that was good
// until it expired or was revoked, or whom RefusedTo named; nil when that is not
// known. All other tokens say nothing that can be believed.
func Refused(err error) *Principal {
	var e *refused
	if errors.As(err, &e) {
		return e.principal
	}
	return nil
}

// expired returns the cause of a refusal of claims whose signature is good and
// whose time is over. When anything else is wrong with them, they name nobody.
func (v *Verifier) expired(c *Claims, cause error) error {
	if c.validate(v.cfg.Issuer, v.cfg.Audience, c.Expiry.Time(), v.cfg.Leeway) != nil {
		return cause
	}
	return RefusedTo(c.principal(), cause)
}

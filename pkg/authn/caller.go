package authn

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

const messageOutside = "The operation is open to services only."

// Call is what a request says about who makes it.
type Call struct {
	// Authorization is the value of the Authorization header, or "".
	Authorization string
	// Service is the name of the trusted service that makes the call, or "".
	// It comes from the connection and never from the request.
	Service string
	// Tenant for which a service works that calls for itself, or 0.
	Tenant int64
	// Internal says that only services may make the call.
	Internal bool
}

// Authenticate returns the principal of a call and the token to hand on. A
// token decides when there is one; without one the call must come from a
// trusted service, which then acts for itself.
func Authenticate(ctx context.Context, v *Verifier, call Call) (*Principal, string, error) {
	if call.Internal && call.Service == "" {
		return nil, "", fault.Forbidden(fault.CodeForbidden, messageOutside)
	}
	if call.Authorization == "" && call.Service != "" {
		return &Principal{Service: call.Service, Tenant: call.Tenant}, "", nil
	}
	token := TokenOf(call.Authorization)
	p, err := v.Verify(ctx, token)
	if err != nil {
		return nil, "", err
	}
	return p.through(call.Service), token, nil
}

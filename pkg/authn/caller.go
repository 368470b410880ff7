package authn

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/fault"
)

const messageOutside = "The operation is open to services only."

// Call holds the caller information of a request.
type Call struct {
	// Authorization is the value of the Authorization header, or "".
	Authorization string
	// Service is the name of the calling trusted service, or "". It comes from the connection,
	// never from the request.
	Service string
	// Tenant is the tenant of a service that calls for itself, or 0.
	Tenant int64
	// Internal means that only services may make the call.
	Internal bool
}

// Authenticate returns the principal of a call, and the token to pass on. If there is a token, it
// decides. Without one, the call must come from a trusted service, which then acts for itself.
func Authenticate(ctx context.Context, v *Verifier, call Call) (*Principal, string, error) {
	if call.Internal && call.Service == "" {
		return nil, "", fault.Forbidden(fault.CodeForbidden, messageOutside)
	}
	if call.Authorization == "" && call.Service != "" {
		return &Principal{Service: call.Service, Tenant: call.Tenant}, "", nil
	}
	token := BearerToken(call.Authorization)
	p, err := v.Verify(ctx, token)
	if err != nil {
		return nil, "", err
	}
	return p.through(call.Service), token, nil
}

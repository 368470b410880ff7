package rpc

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
)

// Audit returns the context in which a call is handled, so that what it commits
// is kept with who made the call. It is asked for every call that is permitted.
type Audit func(ctx context.Context, method *policy.Method, p *authn.Principal, req proto.Message) context.Context

// audit comes last: what was refused before has written nothing.
func (ch *Chain) audit(next handler) handler {
	if ch.audited == nil {
		return next
	}
	return func(ctx context.Context, c *call, req any) (any, error) {
		return next(ch.audited(ctx, c.policy, c.principal, req.(proto.Message)), c, req)
	}
}

// Refused is called when somebody known was refused a call: because of a permission
// or another rule about who may do what (403), a token that is over (401), for asking
// too often (429), or as authn.RefusedTo says. It must not wait.
type Refused func(ctx context.Context, method *policy.Method, p *authn.Principal, f *fault.Error)

// noteRefusal notes refusals of calls from outside. What a service is refused
// that calls for a user comes back as a refusal of the user's own call.
func (ch *Chain) noteRefusal(next handler) handler {
	if ch.refused == nil {
		return next
	}
	return func(ctx context.Context, c *call, req any) (any, error) {
		resp, err := next(ctx, c, req)
		switch {
		case c.watched != nil && c.watched.NotVisible():
			// The service that looks is the one that knows, whoever called it.
			ch.refused(ctx, c.policy, c.principal, fault.NotFound(authn.NotVisible, ""))
		case err != nil && c.outside:
			ch.reportRefusal(ctx, c)
		}
		if c.watched != nil && c.outside {
			for _, code := range c.watched.Items() {
				ch.refused(ctx, c.policy, c.principal, fault.Forbidden(code, ""))
			}
		}
		return resp, err
	}
}

func (ch *Chain) reportRefusal(ctx context.Context, c *call) {
	f, p := fault.FromError(c.err), authn.Refused(c.err)
	if f != nil && p == nil {
		switch f.Status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
			p = c.principal
		}
	}
	if p != nil && p.Tenant > 0 {
		ch.refused(ctx, c.policy, p, f)
	}
}

package rpc

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
)

// Audit returns the context for handling a call, so that its commits are recorded with the caller.
// It is called for every permitted call.
type Audit func(ctx context.Context, method *policy.Method, p *authn.Principal, req proto.Message) context.Context

// audit is the last step: calls that an earlier step rejected have written nothing.
func (ch *Chain) audit(next handler) handler {
	if ch.auditContext == nil {
		return next
	}
	return func(ctx context.Context, c *call, req any) (any, error) {
		return next(ch.auditContext(ctx, c.policy, c.principal, req.(proto.Message)), c, req)
	}
}

// Denied is called when an authenticated caller was denied a call: because of a permission or
// another access rule (403), an expired token (401), the rate limit (429), or for an error from
// authn.DeniedTo. It must not wait.
type Denied func(ctx context.Context, method *policy.Method, p *authn.Principal, f *fault.Error)

// noteDenial reports the denials of calls from outside. A denial of a service that calls for a user
// returns as a denial of the user's own call.
func (ch *Chain) noteDenial(next handler) handler {
	if ch.reportDenial == nil {
		return next
	}
	return func(ctx context.Context, c *call, req any) (any, error) {
		resp, err := next(ctx, c, req)
		switch {
		case c.watched != nil && c.watched.NotVisible():
			// The service that looked reports it, whether or not another service called it.
			ch.reportDenial(ctx, c.policy, c.principal, fault.NotFound(authn.NotVisible, ""))
		case err != nil && c.outside:
			ch.noteDeniedCall(ctx, c)
		}
		if c.watched != nil && c.outside {
			for _, code := range c.watched.Items() {
				ch.reportDenial(ctx, c.policy, c.principal, fault.Forbidden(code, ""))
			}
		}
		return resp, err
	}
}

func (ch *Chain) noteDeniedCall(ctx context.Context, c *call) {
	f, p := fault.FromError(c.err), authn.DeniedPrincipal(c.err)
	if f != nil && p == nil {
		switch f.Status {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
			p = c.principal
		}
	}
	if p != nil && p.Tenant > 0 {
		ch.reportDenial(ctx, c.policy, p, f)
	}
}

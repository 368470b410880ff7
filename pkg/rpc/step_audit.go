package rpc

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/policy"
)

// Audit answers the context in which a call is handled, so that what it commits
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

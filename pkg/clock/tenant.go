package clock

import (
	"context"
	"time"
)

type aheadKey struct{}

// WithAhead returns a context for work of a tenant whose clock is ahead of the real time by a
// duration, which is not negative. Only the clocks of sandboxes are ahead.
func WithAhead(ctx context.Context, ahead time.Duration) context.Context {
	if ahead == Ahead(ctx) {
		return ctx
	}
	return context.WithValue(ctx, aheadKey{}, ahead)
}

// Ahead returns how far the clock of the context's tenant is ahead of the real time; 0 for tenants
// that are not sandboxes, and for work without a tenant. The keys of caches with results that depend
// on the current day include it.
func Ahead(ctx context.Context) time.Duration {
	ahead, _ := ctx.Value(aheadKey{}).(time.Duration)
	return ahead
}

// OfTenant returns the time on the clock of the context's tenant at a moment of real time. All
// rules that depend on the current day or time of a tenant use it. Tokens, sessions, rates, retries,
// retention, expiry of caches, audit logs and the order of changes use the real time.
func OfTenant(ctx context.Context, now time.Time) time.Time { return now.Add(Ahead(ctx)) }

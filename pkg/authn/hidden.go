package authn

import (
	"context"
	"sync/atomic"
)

// NotVisible is the outcome of a call that named somebody whom the caller may not
// see. The caller is told that nobody is there.
const NotVisible = "not_visible"

type hiddenKey struct{}

// WatchHidden answers a context whose calls of Hidden are seen.
func WatchHidden(ctx context.Context) (context.Context, *atomic.Bool) {
	seen := new(atomic.Bool)
	return context.WithValue(ctx, hiddenKey{}, seen), seen
}

// Hidden notes for the audit trail that the caller named somebody whom they may
// not see. It is called where that is found out, by whoever then treats the
// person as unknown; not where the unseen are left out of what nobody named.
func Hidden(ctx context.Context) {
	if seen, ok := ctx.Value(hiddenKey{}).(*atomic.Bool); ok {
		seen.Store(true)
	}
}

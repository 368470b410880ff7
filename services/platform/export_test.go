package platform

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/ratelimit"
	rates "github.com/rotaloom/rotaloom/services/platform/internal/ratelimit"
)

// Sweep removes unused allowances.
func Sweep(ctx context.Context, pool *pg.Pool) error {
	return rates.NewStore(pool, ratelimit.Defaults{}, clock.System{}).Sweep(ctx)
}

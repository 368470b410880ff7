package query

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/fairlimit"
	"github.com/rotaloom/rotaloom/services/commons/migrations"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func NewPool(t *testing.T) *pg.Pool {
	t.Helper()
	sets, err := serve.Migrations("commons_version", migrations.FS)
	require.NoError(t, err)
	return pgtest.New(t, sets...)
}

func TestAQueryWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	busy := NewExecutor(Config{Concurrent: 1}, NewPool(t))
	release, err := busy.limiter.Acquire(ctx, fairlimit.Holder{Tenant: 2, User: "somebody else"})
	require.NoError(t, err)
	defer release()
	waiting, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	err = busy.Run(waiting, 1, All(), civil.Range{From: 1, To: 2}, nil, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

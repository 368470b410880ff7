package query

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/commons/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/fairlimit"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestAQueryWaitsForItsTurn(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	busy := NewExecutor(Config{Concurrent: 1}, pooltest.New(t))
	release, err := busy.limiter.Acquire(ctx, fairlimit.Holder{Tenant: 2, User: "somebody else"})
	require.NoError(t, err)
	defer release()
	waiting, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	err = busy.Run(waiting, All(), civil.Range{From: 1, To: 2}, nil, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

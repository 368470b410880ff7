package auth_test

import (
	"io"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/serve"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	_ "github.com/rotaloom/rotaloom/proto/contracts" // Tokens hold every permission.
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth"
)

// BenchmarkRefreshGrant compares refreshing with the least that it could be: one
// transaction that updates one row. Both are done by as many callers at a time, in
// turns, each with a row of its own.
func BenchmarkRefreshGrant(b *testing.B) {
	callers := 32 * runtime.GOMAXPROCS(0)
	pool := newPool(b)
	log := slog.New(slog.NewJSONHandler(io.Discard, nil))
	service, err := auth.New(b.Context(), auth.Config{HashMemory: 64, HashTime: 1}, auth.Deps{
		Backends: serve.Backends{Pool: pool, Log: log, Clock: clock.System{}}, Permissions: policy.NewTable(nil).Permissions(), OwnRecordActions: policy.NewTable(nil).OwnRecordActions(),
	})
	require.NoError(b, err)
	verifier, err := authn.NewVerifier(tokens, service, service, clock.System{})
	require.NoError(b, err)
	chain, err := rpc.NewChain(rpc.Config{}, rpc.Deps{
		Log: log, Metrics: prometheus.NewRegistry(), Verifier: verifier, Clock: clock.System{}, Audit: audit.Begin(clock.System{}),
	})
	require.NoError(b, err)
	local := rpc.NewLocal(chain)
	service.Register(local)
	require.NoError(b, service.EnsureBootstrap(b.Context(), bootstrap()))
	grants := authv1.NewTokenServiceClient(local.Conn("", nil))
	refresh := make([]*authv1.IssueTokenRequest, callers)
	for i := range refresh {
		response, err := grants.IssueToken(b.Context(), passwordGrant())
		require.NoError(b, err)
		refresh[i] = refreshGrant(response.GetRefreshToken())
	}
	ctx := tenant.With(b.Context(), tenant.Default)
	_, err = pool.Exec(ctx, `CREATE TABLE plain (tenant_id bigint, id bigint, at timestamptz NOT NULL, PRIMARY KEY (tenant_id, id)) WITH (fillfactor = 70)`)
	require.NoError(b, err)
	_, err = pool.Exec(ctx, `INSERT INTO plain SELECT 1, n, now() FROM generate_series(0, $1::bigint) n`, callers)
	require.NoError(b, err)

	floor := func(caller int) error {
		_, err := pool.Exec(ctx, `UPDATE plain SET at = $3 WHERE tenant_id = $1 AND id = $2`, tenant.Default, caller, time.Now())
		return err
	}
	figure := func(caller int) error {
		_, err := grants.IssueToken(b.Context(), refresh[caller])
		return err
	}
	const slice = 500 * time.Millisecond
	perSecond(b, callers, slice, floor)
	perSecond(b, callers, slice, figure)
	var updates, refreshes float64
	for b.Loop() {
		updates += perSecond(b, callers, slice, floor)
		refreshes += perSecond(b, callers, slice, figure)
	}
	b.ReportMetric(refreshes/float64(b.N), "refreshes/s")
	b.ReportMetric(updates/float64(b.N), "updates/s")
}

// perSecond returns how often callers do something in a second, measured over a time.
func perSecond(b *testing.B, callers int, while time.Duration, do func(caller int) error) float64 {
	b.Helper()
	var done atomic.Int64
	var wg sync.WaitGroup
	began := time.Now()
	for caller := range callers {
		wg.Go(func() {
			for time.Since(began) < while {
				if err := do(caller); err != nil {
					b.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}

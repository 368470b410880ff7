package idempotency

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/pooltest"
)

const (
	lease = time.Minute

	// Two operations that need the same permission.
	opA        = "/rotaloom.platform.v1.RateLimitService/PutRateLimit"
	opB        = "/rotaloom.platform.v1.RateLimitService/DeleteRateLimit"
	permission = "platform.rate_limit.write"
)

func newHandler(t *testing.T, cfg Config) (*Handler, *clock.Fake) {
	t.Helper()
	clk := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	pool := pooltest.New(t)
	return New(cfg, Deps{Pool: pool, Policies: policy.NewTable(nil), Clock: clk, Log: pgtest.Log(t)}), clk
}

// userContext is a context for the calls of a user.
func userContext(t *testing.T, tenantID int64, client, user string) context.Context {
	t.Helper()
	p := &authn.Principal{Tenant: tenantID, Client: client, Subject: user, Rows: "all", Permissions: []string{permission}}
	return tenant.With(authn.With(t.Context(), p, ""), tenantID)
}

func request(operation, key string, fingerprint byte) *platformv1.ClaimIdempotencyKeyRequest {
	return &platformv1.ClaimIdempotencyKeyRequest{
		Operation: operation, Key: key, Fingerprint: bytes.Repeat([]byte{fingerprint}, 32), LeaseMs: lease.Milliseconds(),
	}
}

func (h *Handler) settle(ctx context.Context, operation, key string, attempt int64, a *platformv1.StoredResponse) error {
	_, err := h.SettleIdempotencyKey(ctx, &platformv1.SettleIdempotencyKeyRequest{
		Operation: operation, Key: key, Attempt: attempt, Response: a,
	})
	return err
}

func response(body string) *platformv1.StoredResponse {
	return &platformv1.StoredResponse{Status: 200, ContentLocation: "/v1/x/1", Body: []byte(body)}
}

func TestTheFirstResponseIsGivenAgain(t *testing.T) {
	t.Parallel()
	h, clk := newHandler(t, Config{})
	ctx := userContext(t, 1, "c", "u")
	first, err := h.ClaimIdempotencyKey(ctx, request(opA, "k", 1))
	require.NoError(t, err)
	require.Nil(t, first.GetResponse())

	_, err = h.ClaimIdempotencyKey(ctx, request(opA, "k", 1))
	assert.True(t, fault.HasCode(err, fault.CodeKeyRunning), "%v", err)
	assert.True(t, fault.HasStatus(err, 409))
	_, err = h.ClaimIdempotencyKey(ctx, request(opA, "k", 2))
	assert.True(t, fault.HasCode(err, fault.CodeKeyReused), "%v", err)
	assert.True(t, fault.HasStatus(err, 422))

	require.NoError(t, h.settle(ctx, opA, "k", first.GetAttempt()+1, response("another claim's")))
	require.NoError(t, h.settle(ctx, opA, "k", first.GetAttempt(), response("{}")))
	require.NoError(t, h.settle(ctx, opA, "k", first.GetAttempt(), nil), "what is kept stays")
	again, err := h.ClaimIdempotencyKey(ctx, request(opA, "k", 1))
	require.NoError(t, err)
	assert.EqualValues(t, 200, again.GetResponse().GetStatus())
	assert.Equal(t, "/v1/x/1", again.GetResponse().GetContentLocation())
	assert.Equal(t, "{}", string(again.GetResponse().GetBody()))
	_, err = h.ClaimIdempotencyKey(ctx, request(opA, "k", 2))
	assert.True(t, fault.HasCode(err, fault.CodeKeyReused))

	clk.Advance(24 * time.Hour)
	fresh, err := h.ClaimIdempotencyKey(ctx, request(opA, "k", 2))
	require.NoError(t, err)
	assert.Nil(t, fresh.GetResponse(), "the key has expired")
}

func TestKeysBelongToTheirCallers(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, Config{})
	for i, other := range []struct {
		ctx       context.Context
		operation string
	}{
		{userContext(t, 1, "c", "u"), opA},
		{userContext(t, 2, "c", "u"), opA},
		{userContext(t, 1, "c2", "u"), opA},
		{userContext(t, 1, "c", "u2"), opA},
		{userContext(t, 1, "c", "u"), opB},
		{userContext(t, 1, "cu", ""), opA},
	} {
		t.Run(other.operation, func(t *testing.T) {
			got, err := h.ClaimIdempotencyKey(other.ctx, request(other.operation, "k", byte(i)))
			require.NoError(t, err, i)
			require.NoError(t, h.settle(other.ctx, other.operation, "k", got.GetAttempt(), response(fmt.Sprint(i))))
		})
	}
	got, err := h.ClaimIdempotencyKey(userContext(t, 2, "c", "u"), request(opA, "k", 1))
	require.NoError(t, err)
	assert.Equal(t, "1", string(got.GetResponse().GetBody()))

	service := authn.With(tenant.With(t.Context(), 1), &authn.Principal{Service: "commons", Tenant: 1}, "")
	_, err = h.ClaimIdempotencyKey(service, request(opA, "k", 1))
	assert.ErrorIs(t, err, errNoUser)
}

// persons are the employees that all callers see, besides themselves.
type persons struct {
	mu  sync.Mutex
	ids []int64
}

func (p *persons) Persons(context.Context, *authn.Principal) ([]int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ids, nil
}

func TestAResponseIsForWhoMayStillSeeIt(t *testing.T) {
	t.Parallel()
	h, clk := newHandler(t, Config{})
	seen := &persons{ids: []int64{7, 8}}
	h.rules = rowvisibility.New(clk, seen)
	manager := func(permissions ...string) context.Context {
		p := &authn.Principal{Tenant: 1, Client: "c", Subject: "u", PersonID: 1, Rows: "group", Permissions: permissions}
		return tenant.With(authn.With(t.Context(), p, ""), 1)
	}
	first, err := h.ClaimIdempotencyKey(manager(permission), request(opA, "k", 1))
	require.NoError(t, err)
	require.NoError(t, h.settle(manager(permission), opA, "k", first.GetAttempt(), response("{}")))
	again, err := h.ClaimIdempotencyKey(manager(permission, "more"), request(opA, "k", 1))
	require.NoError(t, err)
	assert.Equal(t, "{}", string(again.GetResponse().GetBody()))

	_, err = h.ClaimIdempotencyKey(manager("platform.rate_limit.read"), request(opA, "k", 1))
	assert.True(t, fault.HasCode(err, fault.CodeNoAccess) && fault.HasStatus(err, 403), "%v", err)

	seen.mu.Lock()
	seen.ids = []int64{7}
	seen.mu.Unlock()
	clk.Advance(time.Minute)
	_, err = h.ClaimIdempotencyKey(manager(permission), request(opA, "k", 1))
	assert.True(t, fault.HasCode(err, fault.CodeResponseNotStored) && fault.HasStatus(err, 409), "%v", err)
	assert.ErrorContains(t, err, "carried out with status 200")
}

func TestAKeyThatWasGivenBackIsFree(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, Config{})
	ctx := userContext(t, 1, "c", "u")
	first, err := h.ClaimIdempotencyKey(ctx, request(opA, "k", 1))
	require.NoError(t, err)
	require.NoError(t, h.settle(ctx, opA, "k", first.GetAttempt(), nil))
	second, err := h.ClaimIdempotencyKey(ctx, request(opA, "k", 2))
	require.NoError(t, err)
	assert.Nil(t, second.GetResponse())
	assert.NotEqual(t, first.GetAttempt(), second.GetAttempt())
}

// If the process that carries out a request dies or loses the platform, the same request may run again after
// the lease, and a late response of the first one is ignored.
func TestARequestThatDiedMayComeAgain(t *testing.T) {
	t.Parallel()
	h, clk := newHandler(t, Config{})
	ctx := userContext(t, 1, "c", "u")
	first, err := h.ClaimIdempotencyKey(ctx, request(opA, "k", 1))
	require.NoError(t, err)
	clk.Advance(lease)
	_, err = h.ClaimIdempotencyKey(ctx, request(opA, "k", 2))
	assert.True(t, fault.HasCode(err, fault.CodeKeyReused), "another request may not")
	second, err := h.ClaimIdempotencyKey(ctx, request(opA, "k", 1))
	require.NoError(t, err)
	require.NoError(t, h.settle(ctx, opA, "k", first.GetAttempt(), response("late")))
	require.NoError(t, h.settle(ctx, opA, "k", second.GetAttempt(), response("right")))
	got, err := h.ClaimIdempotencyKey(ctx, request(opA, "k", 1))
	require.NoError(t, err)
	assert.Equal(t, "right", string(got.GetResponse().GetBody()))
}

func TestOneOfManyClaimsWins(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, Config{})
	ctx := userContext(t, 1, "c", "u")
	var wg sync.WaitGroup
	won := make(chan int64, 32)
	for range cap(won) {
		wg.Go(func() {
			got, err := h.ClaimIdempotencyKey(ctx, request(opA, "k", 1))
			if err == nil {
				won <- got.GetAttempt()
			} else {
				assert.True(t, fault.HasCode(err, fault.CodeKeyRunning), "%v", err)
			}
		})
	}
	wg.Wait()
	assert.Len(t, won, 1)
}

func TestKeysAreSwept(t *testing.T) {
	t.Parallel()
	h, clk := newHandler(t, Config{Keep: time.Hour, KeysPerClient: 3})
	count := func() (n int) {
		require.NoError(t, h.store.pool.QueryRow(tenant.All(t.Context()), "SELECT count(*) FROM idempotency_key").Scan(&n))
		return n
	}
	add := func(ctx context.Context, key string) {
		got, err := h.ClaimIdempotencyKey(ctx, request(opA, key, 1))
		require.NoError(t, err)
		require.NoError(t, h.settle(ctx, opA, key, got.GetAttempt(), response(key)))
	}
	all := tenant.All(t.Context())
	for i := range 5 {
		add(userContext(t, 1, "crowded", "u"), fmt.Sprint(i))
		clk.Advance(time.Second)
	}
	add(userContext(t, 2, "c", "u"), "k")
	_, err := h.ClaimIdempotencyKey(userContext(t, 1, "crowded", "u"), request(opA, "runs", 1))
	require.NoError(t, err)

	require.NoError(t, h.sweep(all, false))
	require.Equal(t, 7, count(), "nothing has expired")
	require.NoError(t, h.sweep(all, true))
	require.Equal(t, 4, count(), "three of one client and one of another")
	got, err := h.ClaimIdempotencyKey(userContext(t, 1, "crowded", "u"), request(opA, "4", 1))
	require.NoError(t, err)
	assert.Equal(t, "4", string(got.GetResponse().GetBody()), "the oldest went")

	clk.Advance(2 * time.Hour)
	require.NoError(t, h.sweep(all, false))
	assert.Zero(t, count())
}

// Row-level security alone keeps the tenants apart.
func TestTenantsSeeTheirOwnKeysOnly(t *testing.T) {
	t.Parallel()
	h, _ := newHandler(t, Config{})
	_, err := h.ClaimIdempotencyKey(userContext(t, 1, "c", "u"), request(opA, "k", 1))
	require.NoError(t, err)
	for id, want := range map[int64]int{1: 1, 2: 0} {
		t.Run(fmt.Sprint(id), func(t *testing.T) {
			var n int
			require.NoError(t, h.store.pool.QueryRow(tenant.With(t.Context(), id), "SELECT count(*) FROM idempotency_key").Scan(&n))
			assert.Equal(t, want, n)
		})
	}
	_, err = h.store.pool.Exec(tenant.With(t.Context(), 2), "INSERT INTO idempotency_key (tenant_id, id, client_id, fingerprint, attempt, lease_until, expires_at) VALUES (1, 'x', '', '', 1, now(), now())")
	assert.Error(t, err)
}

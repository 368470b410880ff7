package audit

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/denial"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	auditv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/audit/v1"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
)

const (
	writes = "/rotaloom.auth.v1.IdentityProviderService/DeleteIdentityProvider"
	reads  = "/rotaloom.auth.v1.IdentityProviderService/GetIdentityProvider"
	inside = "/rotaloom.auth.v1.UserService/PutUsers"
)

// begin returns the context of a call of a method by ada.
func begin(t *testing.T, method string) context.Context {
	t.Helper()
	m, err := policy.NewTable(nil).Method(method)
	require.NoError(t, err)
	ctx := obs.WithRequest(tenant.With(t.Context(), 1), obs.Request{ID: "request-1"})
	return Begin(clock.System{})(ctx, m, &authn.Principal{Tenant: 1, Subject: "ada", PersonID: 11, Client: "web"},
		&authv1.DeleteIdentityProviderRequest{Id: 42})
}

func newPool(t *testing.T) *pg.Pool {
	t.Helper()
	return pgtest.New(t, Migrations())
}

func events(t *testing.T, pool *pg.Pool) []Event {
	t.Helper()
	rows, err := pool.Query(tenant.With(t.Context(), 1), `SELECT tenant_id, occurred_at, user_name, person_id, client_id, service,
		operation, objects, request_id, outcome, on_behalf_of FROM audit_event WHERE tenant_id = 1 ORDER BY id`)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Event])
	require.NoError(t, err)
	return found
}

// write is a transaction that would write something.
func write(ctx context.Context, pool *pg.Pool, err error) error {
	return pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		Object(ctx, 43)
		OnBehalfOf(ctx, 7)
		OnBehalfOf(ctx, 7)
		if _, execErr := tx.Exec(ctx, `SELECT 1`); execErr != nil {
			return execErr
		}
		return err
	})
}

func TestAWriteIsCommittedWithItsRow(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	ctx := begin(t, writes)
	failed := errors.New("failed")
	require.ErrorIs(t, write(ctx, pool, failed), failed)
	assert.Empty(t, events(t, pool), "nothing was committed")
	const aside pg.Unaudited = "a test"
	require.NoError(t, aside.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `SELECT 1`)
		return err
	}))
	assert.Empty(t, events(t, pool), "not what the request is about")
	require.NoError(t, write(ctx, pool, nil))
	require.NoError(t, write(ctx, pool, nil), "the second transaction of the request")

	found := events(t, pool)
	require.Len(t, found, 1)
	assert.WithinDuration(t, time.Now(), found[0].At, time.Minute)
	found[0].At = time.Time{}
	assert.Equal(t, Event{
		Tenant: 1, User: "ada", PersonID: 11, Client: "web", Operation: writes[1:],
		Objects: []string{"42", "43"}, RequestID: "request-1", Outcome: OK, OnBehalfOf: []int64{7},
	}, found[0])
}

func TestAWriteWhoseRowCannotBeStoredIsNoWrite(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	ctx := tenant.With(begin(t, writes), 2) // A row of another tenant.
	require.Error(t, write(ctx, pool, nil))
	assert.Empty(t, events(t, pool))
	require.NoError(t, write(begin(t, writes), pool, nil), "the connection is whole")
}

func TestOnlyWritesAreKept(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	require.NoError(t, write(begin(t, reads), pool, nil))
	assert.Empty(t, events(t, pool))
	require.NoError(t, write(begin(t, inside), pool, nil))
	assert.Len(t, events(t, pool), 1, "a write between services")
	ctx := begin(t, writes)
	require.NoError(t, pg.InTxWith(ctx, pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(context.Context, pgx.Tx) error { return nil }))
	assert.Len(t, events(t, pool), 1, "a transaction that cannot write")
}

func TestOldEventsGo(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	ctx, now := tenant.With(t.Context(), 1), time.Now()
	for age := range 7 {
		e := Event{Tenant: 1, At: now.Add(-time.Duration(age) * time.Hour), Operation: "login", Outcome: OK}
		require.NoError(t, e.Write(ctx, pool))
	}
	n, err := sweep(t.Context(), pool, now.Add(-90*time.Minute), 2)
	require.NoError(t, err)
	assert.EqualValues(t, 2, n, "a batch")
	sweeper := NewSweeper(Config{Retention: 90 * time.Minute}, pool, clock.NewFake(now), slog.New(slog.DiscardHandler))
	require.NoError(t, sweeper.sweep(t.Context(), 1))
	assert.Len(t, events(t, pool), 2, "as many batches as there are")
	_, err = pool.Exec(ctx, `DELETE FROM audit_event`)
	require.NoError(t, err)
	assert.Len(t, events(t, pool), 2, "a tenant removes nothing")
}

func TestDenialsAreRowsOfTheLog(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	ctx, at := tenant.With(t.Context(), 1), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	kind := denial.Kind{Tenant: 1, User: "ada", Client: strings.Repeat("ä", 200), Operation: "s/M", Outcome: "WFP-90012"}
	require.NoError(t, RecordDenials(pool)(ctx, []*denial.Denial{
		{Kind: kind, PersonID: 11, RequestID: "r-1", First: at, Last: at.Add(time.Second), Times: 7},
		{Kind: kind, PersonID: 11, RequestID: "r-2", First: at, Last: at, Times: 1},
	}))
	strange := kind
	strange.Tenant = 2
	require.Error(t, RecordDenials(pool)(ctx, []*denial.Denial{{Kind: kind, First: at, Times: 1}, {Kind: strange, First: at, Times: 1}}))

	read := &auditv1.ReadAuditTrailRequest{To: at.Add(time.Hour).UnixMicro(), Before: at.Add(time.Hour).UnixMicro(), Count: 10}
	response, err := NewLogServer(pool).ReadAuditTrail(ctx, read)
	require.NoError(t, err)
	require.Len(t, response.GetEvents(), 2, "all of a call or nothing")
	one, many := response.GetEvents()[0], response.GetEvents()[1]
	assert.EqualValues(t, 1, one.GetTimes())
	assert.Equal(t, one.GetAt(), one.GetLastAt())
	assert.EqualValues(t, 7, many.GetTimes())
	assert.Equal(t, at.Add(time.Second).UnixMicro(), many.GetLastAt())
	assert.Equal(t, "ada s/M WFP-90012 r-1", strings.Join([]string{many.GetUserName(), many.GetOperation(), many.GetOutcome(), many.GetRequestId()}, " "))
	assert.Len(t, many.GetClientId(), 200)

	response, err = NewLogServer(pool).ReadAuditTrail(tenant.With(t.Context(), 2), read)
	require.NoError(t, err)
	assert.Empty(t, response.GetEvents(), "of another tenant")
}

// An operation that refuses its caller's own record and forgets to check whose record it
// writes writes nothing.
func TestAWriteWithoutItsCheckIsNotCommitted(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	caller := &authn.Principal{Tenant: 1, Subject: "ada", PersonID: 11}
	m, err := policy.NewTable(nil).Method(writes)
	require.NoError(t, err)
	ctx := authn.WithOwnRecord(tenant.With(t.Context(), 1), caller, []string{"timekeeping.punch"})
	ctx = Begin(clock.System{})(ctx, m, caller, &authv1.DeleteIdentityProviderRequest{Id: 42})
	require.ErrorIs(t, write(ctx, pool, nil), errNotChecked)
	assert.Empty(t, events(t, pool))
	authn.OwnRecordFrom(ctx).Check()
	require.NoError(t, write(ctx, pool, nil))
	assert.Len(t, events(t, pool), 1)
}

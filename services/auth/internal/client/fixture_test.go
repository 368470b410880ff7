package client_test

import (
	"context"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/client"
	"github.com/rotaloom/rotaloom/services/auth/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/scopes"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var permissions = []string{
	"auth.client.write", "commons.person.read", "commons.person.write", "scheduling.schedule.read", "scheduling.schedule.write",
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// fixture is a tenant with the built-in access profiles and a user ada. Its ctx belongs to a service, which may
// do everything.
type fixture struct {
	*client.Handler
	ctx     context.Context
	pool    *pg.Pool
	revoked *revoked.Store
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	w := &fixture{ctx: tenant.With(t.Context(), 1)}
	w.pool = pooltest.New(t)
	w.revoked = revoked.NewStore(w.pool, clock.NewFake(now), pgtest.Log(t))
	w.Handler = client.New(client.Deps{
		Pool: w.pool, Clock: clock.NewFake(now), Revoked: w.revoked, Scopes: scopes.NewCatalog(permissions), Permissions: permissions,
	})
	w.exec(t, `INSERT INTO tenant (id, name) VALUES (1, 'one')`)
	require.NoError(t, pg.InTx(w.ctx, w.pool, func(ctx context.Context, tx pgx.Tx) error {
		_, err := profile.ApplyDefaults(ctx, tx)
		return err
	}))
	w.exec(t, `INSERT INTO app_user (tenant_id, username, username_key, password_hash, access_profile) VALUES (1, 'ada', 'ada', '', 'Employee')`)
	return w
}

func (w *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := w.pool.Exec(w.ctx, sql, args...)
	require.NoError(t, err)
}

func (w *fixture) create(t *testing.T, sent *authv1.Client) *authv1.Client {
	t.Helper()
	made, err := w.CreateClient(w.ctx, sent)
	require.NoError(t, err)
	return made
}

// logIn has ada log in by a client.
func (w *fixture) logIn(t *testing.T, id string) {
	t.Helper()
	hash := sha256.Sum256([]byte(id))
	w.exec(t, `INSERT INTO token_family (tenant_id, sid, user_id, client_id, refresh_hash, created_at, expires_at, access_until)
		SELECT 1, 'of-' || $1::text, id, $1, $2, $3, $4, $4 FROM app_user`, id, hash[:], now, now.Add(time.Hour))
}

// secret is the hash of a client's secret as it is stored.
func (w *fixture) secret(t *testing.T, id string) (hash []byte) {
	t.Helper()
	require.NoError(t, w.pool.QueryRow(w.ctx, `SELECT secret_hash FROM client WHERE tenant_id = 1 AND client_id = $1`, id).Scan(&hash))
	return hash
}

// ownFamily is the family that the tokens of a client's own work have.
func (w *fixture) ownFamily(t *testing.T, id string) (sid string) {
	t.Helper()
	require.NoError(t, w.pool.QueryRow(w.ctx, `SELECT own_sid FROM client WHERE tenant_id = 1 AND client_id = $1`, id).Scan(&sid))
	return sid
}

func (w *fixture) hasEnded(t *testing.T, sid string) bool {
	t.Helper()
	ended, err := w.revoked.Revoked(w.ctx, &authn.Principal{Tenant: 1, SID: sid})
	require.NoError(t, err)
	return ended
}

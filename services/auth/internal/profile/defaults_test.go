package profile

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/auth/internal/pooltest"
)

// A later version adds its permissions to default profiles. It does not restore permissions that an
// administrator removed, and does not change profiles a second time.
func TestDefaultProfilesGetNewPermissions(t *testing.T) {
	t.Parallel()
	pool, ctx := pooltest.New(t), tenant.With(t.Context(), 1)
	_, err := pool.Exec(ctx, `INSERT INTO tenant (id, name) VALUES (1, 'one')`)
	require.NoError(t, err)
	apply := func(grants ...string) (changed []string) {
		t.Helper()
		require.NoError(t, pg.InTx(ctx, pool, func(ctx context.Context, tx pgx.Tx) (err error) {
			changed, err = applyProfiles(ctx, tx, []Profile{{Name: "Clerk", Rows: rowvisibility.Group, Grants: grants}})
			return err
		}))
		return changed
	}
	clerk := func() Profile {
		t.Helper()
		p, err := Find(ctx, pool, "Clerk")
		require.NoError(t, err)
		return p
	}

	assert.Equal(t, []string{"Clerk"}, apply("a.read", "b.read"))
	created := clerk()
	assert.Equal(t, []string{"a.read", "b.read"}, created.Grants)
	assert.Equal(t, rowvisibility.Group, created.Rows)
	assert.Empty(t, apply("a.read", "b.read"))
	assert.Equal(t, created, clerk())

	_, err = pool.Exec(ctx, `UPDATE access_profile SET permissions = '{b.read, own.read}', row_scope = 'own' WHERE name = 'Clerk'`)
	require.NoError(t, err)
	assert.Equal(t, []string{"Clerk"}, apply("a.read", "b.read", "c.read"))
	extended := clerk()
	assert.Equal(t, []string{"b.read", "own.read", "c.read"}, extended.Grants)
	assert.Equal(t, rowvisibility.Own, extended.Rows)
	assert.Equal(t, created.Version+1, extended.Version)
	assert.Empty(t, apply("a.read", "c.read"), "an older program changes nothing")
	assert.Empty(t, apply("a.read", "b.read", "c.read"))

	_, err = pool.Exec(ctx, `DELETE FROM access_profile WHERE name = 'Clerk'`)
	require.NoError(t, err)
	assert.Empty(t, apply("a.read", "b.read", "c.read", "d.read"))
	assert.Empty(t, clerk().Name, "a deleted profile stays deleted")
}

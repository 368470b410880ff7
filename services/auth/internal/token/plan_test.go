package token

import (
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/testkit/pgtest"
	"github.com/rotaloom/rotaloom/services/auth/internal/pooltest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// A user among many is found by the index, as the role of the service, which
// row-level security concerns, and without regard to case.
func TestUsersAreFoundByTheirIndex(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	ctx := tenant.With(t.Context(), tenant.Default)
	for i, sql := range []string{
		`INSERT INTO tenant (id, name) VALUES (1, 'default')`,
		`INSERT INTO app_user (tenant_id, username, username_key, password_hash, access_profile)
			SELECT 1, 'User' || g, 'user' || g, '', 'Employee' FROM generate_series(1, 20000) g`,
		`ANALYZE app_user`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := pool.Exec(ctx, sql)
			require.NoError(t, err)
		})
	}
	rows, err := pool.Query(ctx, `EXPLAIN `+selectUser+byName, tenant.Default, "user7")
	require.NoError(t, err)
	plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	text := strings.Join(plan, "\n")
	assert.Contains(t, text, "app_user_username_key")
	assert.Contains(t, text, "username_key = ")
	found, err := findUser(ctx, pool, " uSER7 ")
	require.NoError(t, err)
	assert.Equal(t, "User7", found.name)
}

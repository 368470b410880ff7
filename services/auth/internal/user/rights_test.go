package user_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/auth/internal/user"
)

func TestRightsAreThoseOfNow(t *testing.T) {
	t.Parallel()
	pool := pooltest.New(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := user.New(user.Deps{Pool: pool, Clock: clock.NewFake(now), Permissions: []string{"a.b.read", "a.b.write", "c.d.read"}})
	ctx := tenant.With(t.Context(), 1)
	for i, sql := range []string{
		`INSERT INTO tenant (id, name) VALUES (1, 'one') ON CONFLICT DO NOTHING`,
		`INSERT INTO access_profile (tenant_id, name, permissions, row_scope) VALUES
			(1, 'lead', '{a.*}', 'group'), (1, 'reader', '{*.read}', 'all'), (1, 'clerk', '{a.b.read}', 'own')`,
		`INSERT INTO app_user (tenant_id, person_id, username, username_key, password_hash, access_profile, locked_out) VALUES
			(1, 7, 'ada', 'ada', 'x', 'lead', false), (1, 8, 'ben', 'ben', 'x', 'lead', true), (1, 9, 'cem', 'cem', 'x', 'lead', false)`,
		`INSERT INTO account_lockout (tenant_id, person_id, version, periods) VALUES (1, 9, 1, '{[2026-03-01 12:00:00+00,)}')`,
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			_, err := pool.Exec(ctx, sql)
			require.NoError(t, err)
		})
	}
	for name, c := range map[string]struct {
		person int64
		role   string
		want   *authv1.UserRights
	}{
		"all that somebody may": {7, "", &authv1.UserRights{
			PersonId: 7, Known: true, Within: true, RowScope: "group", Permissions: []string{"a.b.read", "a.b.write"},
		}},
		"less of it": {7, "clerk", &authv1.UserRights{
			PersonId: 7, AccessProfile: "clerk", Known: true, Within: true, RowScope: "own", Permissions: []string{"a.b.read"},
		}},
		"what two profiles have in common": {7, "reader", &authv1.UserRights{
			PersonId: 7, AccessProfile: "reader", Known: true, RowScope: "group", Permissions: []string{"a.b.read"},
		}},
		"a profile that is not there":                              {7, "none", &authv1.UserRights{PersonId: 7, AccessProfile: "none"}},
		"somebody locked out":                                      {8, "", nil},
		"somebody whose lockout has begun and was not yet applied": {9, "", nil},
		"nobody": {10, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			response, err := h.ListUserRights(ctx, &authv1.ListUserRightsRequest{
				Queries: []*authv1.UserRightsQuery{{PersonId: c.person, AccessProfile: c.role}},
			})
			require.NoError(t, err)
			if c.want == nil {
				assert.Empty(t, response.GetRights())
				return
			}
			require.Len(t, response.GetRights(), 1)
			got := response.GetRights()[0]
			assert.Equal(t, c.want.String(), got.String())
		})
	}
}

package user

import (
	"context"
	"fmt"
	"slices"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

// ListUserRights returns the current rights of persons. See UserService.
func (h *Handler) ListUserRights(ctx context.Context, req *authv1.ListUserRightsRequest) (*authv1.ListUserRightsResponse, error) {
	persons, names := make([]int64, 0, len(req.GetQueries())), make([]string, 0, len(req.GetQueries()))
	for _, q := range req.GetQueries() {
		persons, names = append(persons, q.GetPersonId()), append(names, q.GetAccessProfile())
	}
	own, err := h.activeProfiles(ctx, persons)
	if err != nil {
		return nil, err
	}
	others, err := profile.ByName(ctx, h.pool, names)
	if err != nil {
		return nil, err
	}
	out := &authv1.ListUserRightsResponse{}
	for _, q := range req.GetQueries() {
		held, active := own[q.GetPersonId()]
		if !active {
			continue
		}
		other, known := held, true
		if q.GetAccessProfile() != "" {
			other, known = others[q.GetAccessProfile()]
		}
		rights := commonRights(held, other, h.permissions)
		rights.PersonId, rights.AccessProfile, rights.Known = q.GetPersonId(), q.GetAccessProfile(), known
		rights.Within = rights.GetWithin() && known
		out.Rights = append(out.Rights, rights)
	}
	return out, nil
}

// commonRights returns the rights that two profiles have in common.
func commonRights(held, other profile.Profile, all []string) *authv1.UserRights {
	mine, rows := profile.Expand(held.Grants, all), other.Rows
	if !rows.Within(held.Rows) {
		rows = held.Rows
	}
	theirs := profile.Expand(other.Grants, all)
	return &authv1.UserRights{
		Within:      profile.FirstExceeding(other.Grants, held.Grants) == "" && other.Rows.Within(held.Rows),
		RowScope:    string(rows),
		Permissions: slices.DeleteFunc(mine, func(permission string) bool { return !slices.Contains(theirs, permission) }),
	}
}

// activeProfiles returns the profiles of the persons who can log in now.
func (h *Handler) activeProfiles(ctx context.Context, persons []int64) (map[int64]profile.Profile, error) {
	found := make(map[int64]profile.Profile, len(persons))
	var person int64
	var p profile.Profile
	err := pg.ForEach(ctx, h.pool, []any{&person, &p.Name, &p.Grants, &p.Rows, &p.OwnActions}, func() error {
		found[person] = p
		p.Grants, p.OwnActions = nil, nil
		return nil
	}, `SELECT u.person_id, p.name, p.permissions, p.row_scope, p.own_record_actions
		FROM app_user u JOIN access_profile p ON p.tenant_id = u.tenant_id AND p.name = u.access_profile
		WHERE u.tenant_id = $1 AND u.person_id = ANY($2) AND NOT u.locked_out
		  AND NOT EXISTS (SELECT FROM account_lockout l
			WHERE l.tenant_id = u.tenant_id AND l.person_id = u.person_id AND l.periods @> $3::timestamptz)`,
		tenant.Of(ctx), persons, h.now(ctx))
	if err != nil {
		return nil, fmt.Errorf("read the profiles of users: %w", err)
	}
	return found, nil
}

package user

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/password"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
)

// account describes the current user of a person, and the profile that the person is to get.
type account struct {
	hash string
	// long means that the password is long enough for a privileged user, and privileged that the user is one.
	long, privileged bool
	profile          string
	// known means that the new profile exists, and becomes that it is privileged.
	known, becomes bool
}

// currentAccounts returns the current users of persons, and describes their new profiles.
func (h *Handler) currentAccounts(ctx context.Context, users []*authv1.User) (map[int64]account, error) {
	_, persons := columns(users)
	out := make(map[int64]account, len(users))
	var id int64
	var a account
	if err := pg.ForEach(ctx, h.pool, []any{&id, &a.hash, &a.long, &a.profile}, func() error { out[id] = a; return nil }, `SELECT person_id, password_hash, long_password, access_profile FROM app_user
		WHERE tenant_id = $1 AND person_id = ANY($2)`, tenant.Of(ctx), persons); err != nil {
		return nil, fmt.Errorf("find users: %w", err)
	}
	names := make([]string, 0, 2*len(users))
	for _, u := range users {
		names = append(names, u.GetAccessProfile(), out[u.GetPersonId()].profile)
	}
	profiles, err := profile.ByName(ctx, h.pool, names)
	if err != nil {
		return nil, err
	}
	for _, u := range users {
		a := out[u.GetPersonId()]
		a.privileged = profiles[a.profile].Privileged(h.permissions)
		_, a.known = profiles[u.GetAccessProfile()]
		a.becomes = profiles[u.GetAccessProfile()].Privileged(h.permissions)
		out[u.GetPersonId()] = a
	}
	return out, nil
}

// refuseUnfit refuses passwords that are too easy to guess for the user's rights, and profiles that do not
// exist. A user who becomes privileged needs a longer password.
func refuseUnfit(users []*authv1.User, present map[int64]account) error {
	refused := make([]*fault.Error, len(users))
	for i, u := range users {
		a := present[u.GetPersonId()]
		switch {
		case u.GetAccessProfile() != "" && !a.known && a.profile != u.GetAccessProfile():
			refused[i] = profile.Unknown(u.GetAccessProfile())
		case u.GetPassword() != "":
			refused[i] = password.Check(u.GetPassword(), u.GetUsername(), a.becomes)
		case a.becomes && !a.privileged && a.hash != "" && !a.long:
			refused[i] = fault.Invalid(password.CodeShort, fmt.Sprintf(
				"With this access profile, the user can change the permissions of others. Set it together with a password of at least %d characters.", password.MinPrivileged))
		}
	}
	return bulkError(refused)
}

// endOtherPasswords revokes the tokens of users who get a new password, except the caller's own current log-in.
func (h *Handler) endOtherPasswords(ctx context.Context, tx pg.Querier, users []*authv1.User, hashes []string) error {
	var changed []int64
	for i, u := range users {
		if hashes[i] != "" {
			changed = append(changed, u.GetPersonId())
		}
	}
	keep := ""
	if caller, ok := authn.From(ctx); ok && slices.Contains(changed, caller.PersonID) && !strings.HasPrefix(caller.SID, "u-") {
		keep = caller.SID
	}
	return revoked.Passwords(ctx, tx, changed, keep, h.clock.Now())
}

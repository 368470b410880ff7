// Package user contains the built-in user store: the credentials of users.
package user

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/clock"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/pkg/tenantclock"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/loginlimit"
	"github.com/rotaloom/rotaloom/services/auth/internal/password"
	"github.com/rotaloom/rotaloom/services/auth/internal/revoked"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// maxText is the longest user name or profile name, in bytes.
const maxText = 1000

// Handler serves UserService.
type Handler struct {
	authv1.UnsafeUserServiceServer
	pool   *pg.Pool
	hasher *password.Hasher
	clock  clock.Clock
	// clocks has the clocks of sandboxes.
	clocks *tenantclock.Clocks
	// revoked stores the revoked tokens of users.
	revoked *revoked.Store
	// loginLimit counts wrong passwords.
	loginLimit *loginlimit.Limiter
	// permissions are all permissions of the contracts.
	permissions []string
}

// Deps are the dependencies of the handler.
type Deps struct {
	Pool       *pg.Pool
	Hasher     *password.Hasher
	Clock      clock.Clock
	Clocks     *tenantclock.Clocks
	Revoked    *revoked.Store
	LoginLimit *loginlimit.Limiter
	// Permissions are all permissions of the contracts.
	Permissions []string
}

// New returns a Handler.
func New(d Deps) *Handler {
	return &Handler{pool: d.Pool, hasher: d.Hasher, clock: d.Clock, clocks: d.Clocks, revoked: d.Revoked, loginLimit: d.LoginLimit, permissions: d.Permissions}
}

// PutUsers creates or replaces all of the users or none. Callers cannot assign an access profile that permits
// more than their own. A user with a new profile must log in again. If user names are taken or repeated, or
// profiles are refused, details.error-offsets lists the affected users.
func (h *Handler) PutUsers(ctx context.Context, req *authv1.PutUsersRequest) (*emptypb.Empty, error) {
	users := req.GetUsers()
	if err := check(users); err != nil {
		return nil, err
	}
	if err := h.refuseEscalation(ctx, users); err != nil {
		return nil, err
	}
	current, err := h.currentAccounts(ctx, users)
	if err != nil {
		return nil, err
	}
	if err := refuseUnfit(users, current); err != nil {
		return nil, err
	}
	// Hashing is slow, so look for taken names first. The database checks them again.
	if err := h.refuseTaken(ctx, users); err != nil {
		return nil, err
	}
	hashes, err := h.hash(ctx, users, current)
	if err != nil {
		return nil, err
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := h.checkAdministratorsRemainAmong(ctx, tx, users); err != nil {
			return err
		}
		if err := h.endOtherProfiles(ctx, tx, users); err != nil {
			return err
		}
		if err := h.endOtherPasswords(ctx, tx, users, hashes); err != nil {
			return err
		}
		return putUsers(ctx, tx, users, hashes)
	})
	if pgerr.IsUnique(err, "app_user_username_key") {
		if taken := h.refuseTaken(ctx, users); taken != nil {
			return nil, taken
		}
	}
	if err != nil {
		return nil, err
	}
	h.revoked.WakePublisher()
	return &emptypb.Empty{}, nil
}

// DeleteUsers removes the users of all of the persons or none, and revokes their tokens. It ignores persons
// without a user. It refuses to remove users who may do more than the caller, and the last administrator;
// details.error-offsets lists them.
func (h *Handler) DeleteUsers(ctx context.Context, req *authv1.DeleteUsersRequest) (*emptypb.Empty, error) {
	persons := req.GetPersonIds()
	users := make([]*authv1.User, len(persons))
	for i, id := range persons {
		users[i] = &authv1.User{PersonId: id}
	}
	if err := h.refuseEscalation(ctx, users); err != nil {
		return nil, err
	}
	recordInitiator(ctx, req.GetInitiator(), persons)
	err := pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error {
		last, err := h.checkAdministratorsRemain(ctx, tx, persons)
		if err == nil {
			err = refuseLast(persons, last)
		}
		if err != nil {
			return err
		}
		if err := revoked.Persons(ctx, tx, persons, h.clock.Now()); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM app_user WHERE tenant_id = $1 AND person_id = ANY($2)`, tenant.Of(ctx), persons)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("remove users: %w", err)
	}
	h.revoked.WakePublisher()
	return &emptypb.Empty{}, nil
}

func check(users []*authv1.User) error {
	persons := make(map[int64]bool, len(users))
	for i, u := range users {
		switch {
		case u.GetPersonId() <= 0 || persons[u.GetPersonId()]:
			return fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("User %d needs a person that no other user in the list has.", i))
		case strings.TrimSpace(u.GetUsername()) == "":
			return fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("User %d needs a name.", i))
		case username.LookupKey(u.GetUsername()) == "":
			return fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("The name of user %d has characters that no user name has.", i))
		case len(u.GetUsername()) > maxText || len(u.GetAccessProfile()) > maxText || len(u.GetPersonNumber()) > maxText || strings.ContainsRune(u.GetUsername()+u.GetAccessProfile()+u.GetPersonNumber(), 0):
			return fault.Invalid(fault.CodeBadRequest, fmt.Sprintf("User %d has a text that cannot be stored.", i))
		}
		persons[u.GetPersonId()] = true
	}
	return nil
}

// refuseTaken returns an error that lists all users whose names belong to other users, either in the store or
// earlier in the list.
func (h *Handler) refuseTaken(ctx context.Context, users []*authv1.User) error {
	_, persons := columns(users)
	offsets, err := pg.Collect(ctx, h.pool, pgx.RowTo[int32], `WITH q AS (
			SELECT u.name, u.person, u.at
			FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS u (name, person, at))
		SELECT (q.at - 1)::int FROM q
		WHERE EXISTS (SELECT FROM q before WHERE before.name = q.name AND before.at < q.at)
		   OR EXISTS (SELECT FROM app_user o WHERE o.tenant_id = $1 AND o.username_key = q.name
		              AND o.person_id IS DISTINCT FROM q.person)
		ORDER BY q.at`, tenant.Of(ctx), keys(users), persons)
	if err != nil {
		return fmt.Errorf("look for user names: %w", err)
	}
	if len(offsets) == 0 {
		return nil
	}
	return fault.New(fault.CodeConflict, http.StatusConflict, "Another user has the user name. Choose another one.").
		WithDetails(&commonv1.ErrorDetails{ErrorOffsets: offsets})
}

// hash returns the hashes of the passwords. A hash is "" if the user gets no password, or keeps the current
// one.
func (h *Handler) hash(ctx context.Context, users []*authv1.User, present map[int64]account) ([]string, error) {
	hashes := make([]string, len(users))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(h.hasher.Concurrency())
	for i, u := range users {
		if u.GetPassword() == "" {
			continue
		}
		group.Go(func() error {
			if before := present[u.GetPersonId()].hash; before != "" {
				if same, err := h.hasher.Matches(ctx, before, u.GetPassword()); err != nil || same {
					return err
				}
			}
			var err error
			hashes[i], err = h.hasher.Hash(ctx, u.GetPassword())
			return err
		})
	}
	return hashes, group.Wait()
}

func putUsers(ctx context.Context, db pg.Querier, users []*authv1.User, hashes []string) error {
	names, persons := columns(users)
	profiles, numbers, long := make([]string, len(users)), make([]string, len(users)), make([]bool, len(users))
	for i, u := range users {
		profiles[i], numbers[i], long[i] = u.GetAccessProfile(), u.GetPersonNumber(), password.Long(u.GetPassword())
	}
	_, err := db.Exec(ctx, `INSERT INTO app_user AS u (tenant_id, person_id, username, username_key, password_hash, long_password, access_profile, person_number)
		SELECT $1, q.person, q.name, q.key, q.hash, q.long, q.profile, q.number
		FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::boolean[]) AS q (person, name, hash, profile, number, key, long)
		ORDER BY q.person
		ON CONFLICT (tenant_id, person_id) DO UPDATE
		SET username = excluded.username, username_key = excluded.username_key, long_password = excluded.long_password OR u.long_password AND excluded.password_hash = '',
		    access_profile = excluded.access_profile,
		    person_number = coalesce(nullif(excluded.person_number, ''), u.person_number),
		    password_hash = coalesce(nullif(excluded.password_hash, ''), u.password_hash), updated_at = now()`,
		tenant.Of(ctx), persons, names, hashes, profiles, numbers, keys(users), long)
	if err != nil {
		return fmt.Errorf("store users: %w", err)
	}
	return nil
}

func columns(users []*authv1.User) (names []string, persons []int64) {
	for _, u := range users {
		names, persons = append(names, u.GetUsername()), append(persons, u.GetPersonId())
	}
	return names, persons
}

// keys returns the keys that distinguish user names.
func keys(users []*authv1.User) []string {
	out := make([]string, len(users))
	for i, u := range users {
		out[i] = username.LookupKey(u.GetUsername())
	}
	return out
}

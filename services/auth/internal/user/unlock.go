package user

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
	"github.com/rotaloom/rotaloom/services/auth/internal/username"
)

// UnlockUser unlocks a user name after too many wrong passwords. It works for names without a user too, because
// users of the directory are unknown before their first log-in. Callers cannot unlock a user who may do more
// than they, because they could then continue to guess the password.
func (h *Handler) UnlockUser(ctx context.Context, req *authv1.UnlockUserRequest) (*emptypb.Empty, error) {
	name := req.GetUserName()
	if strings.TrimSpace(name) == "" || len(name) > maxText || strings.ContainsRune(name, 0) {
		return nil, fault.Invalid(fault.CodeInput, fmt.Sprintf("userName must have 1 to %d bytes, without the character U+0000.", maxText))
	}
	bounds, err := profile.CallerBounds(ctx, h.pool, h.permissions)
	if err != nil {
		return nil, err
	}
	var has string
	var person int64
	err = h.pool.QueryRow(ctx, `SELECT access_profile, coalesce(person_id, 0) FROM app_user WHERE tenant_id = $1 AND username_key = $2`,
		tenant.Of(ctx), username.LookupKey(name)).Scan(&has, &person)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("find user: %w", err)
	}
	held, err := profile.Find(ctx, h.pool, has)
	if err != nil {
		return nil, err
	}
	if refused := bounds.Refuse(held); refused != nil {
		return nil, refused
	}
	if person > 0 {
		audit.Object(ctx, person)
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error { return h.loginLimit.Unlock(ctx, tx, name) })
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

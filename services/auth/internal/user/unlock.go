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

// UnlockUser lets a user name log in again after too many wrong passwords. Whether
// somebody has the name makes no difference: users of the directory are not known
// before they have logged in. Nobody unlocks a user who may do more than they, whose
// password they could then guess further.
func (h *Handler) UnlockUser(ctx context.Context, req *authv1.UnlockUserRequest) (*emptypb.Empty, error) {
	tenantID := tenant.Of(ctx)
	name := req.GetUserName()
	if strings.TrimSpace(name) == "" || len(name) > maxText || strings.ContainsRune(name, 0) {
		return nil, fault.Invalid(fault.CodeInput, fmt.Sprintf("userName needs a text of at most %d bytes.", maxText))
	}
	bounds, err := profile.BoundsOf(ctx, h.pool, h.permissions)
	if err != nil {
		return nil, err
	}
	var has string
	var person int64
	err = h.pool.QueryRow(ctx, `SELECT access_profile, coalesce(person_id, 0) FROM app_user WHERE tenant_id = $1 AND username_key = $2`,
		tenantID, username.KeyOf(name)).Scan(&has, &person)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("find user: %w", err)
	}
	held, err := profile.Named(ctx, h.pool, tenantID, has)
	if err != nil {
		return nil, err
	}
	if refused := bounds.Refuse(held); refused != nil {
		return nil, refused
	}
	if person > 0 {
		audit.Object(ctx, person)
	}
	err = pg.InTx(ctx, h.pool, func(ctx context.Context, tx pgx.Tx) error { return h.loginLimit.Unlock(ctx, tx, tenantID, name) })
	if err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

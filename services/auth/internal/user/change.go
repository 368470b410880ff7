package user

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/rotaloom/rotaloom/pkg/audit"
	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/obs"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	authv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/auth/v1"
	"github.com/rotaloom/rotaloom/services/auth/internal/profile"
)

// CodeLastAdministrator (409): the change would leave no user who may do everything.
// Create another administrator first.
const CodeLastAdministrator = "WRL-40001"

func lastAdministrator() *fault.Error {
	return fault.New(CodeLastAdministrator, http.StatusConflict,
		"The user is the last administrator who can log in. Create another administrator first.")
}

// CheckUserChanges refuses changes of persons that the caller must not make to their users. It writes nothing.
func (h *Handler) CheckUserChanges(ctx context.Context, req *authv1.CheckUserChangesRequest) (*emptypb.Empty, error) {
	assignments := make([]profile.Assignment, len(req.GetChanges()))
	var ended []int64
	for i, c := range req.GetChanges() {
		assignments[i] = profile.Assignment{PersonID: c.GetPersonId()}
		if c.GetEndsLogIns() {
			ended = append(ended, c.GetPersonId())
		}
	}
	refused, err := profile.CheckAssignments(ctx, h.pool, h.permissions, assignments)
	if err != nil {
		return nil, err
	}
	last, err := lastAdministrators(ctx, h.pool, ended, h.now(ctx))
	if err != nil {
		return nil, err
	}
	for i, c := range req.GetChanges() {
		if refused[i] == nil && c.GetEndsLogIns() && slices.Contains(last, c.GetPersonId()) {
			refused[i] = lastAdministrator()
		}
	}
	if err := bulkError(refused); err != nil {
		return nil, err
	}
	return &emptypb.Empty{}, nil
}

// lockAdministrators serializes changes that end the rights of administrators of a tenant.
const lockAdministrators advisory.Lock = "administrators"

// administrators selects the users who may do everything and have no current or future lockout.
const administrators = ` FROM app_user u
	JOIN access_profile p ON p.tenant_id = u.tenant_id AND p.name = u.access_profile AND '*' = ANY(p.permissions) AND p.row_scope = 'all'
	WHERE u.tenant_id = $1 AND NOT u.locked_out AND NOT EXISTS (SELECT FROM account_lockout l
		WHERE l.tenant_id = u.tenant_id AND l.person_id = u.person_id AND upper(l.periods) > $2)`

// lastAdministrators returns the administrators among the persons, if there are no others.
func lastAdministrators(ctx context.Context, db pg.Querier, persons []int64, now time.Time) ([]int64, error) {
	if len(persons) == 0 {
		return nil, nil
	}
	last, err := pg.Collect(ctx, db, pgx.RowTo[int64], `SELECT u.person_id`+administrators+` AND u.person_id = ANY($3)
		AND NOT EXISTS (SELECT`+administrators+` AND coalesce(u.person_id, 0) <> ALL($3))`, tenant.Of(ctx), now, persons)
	if err != nil {
		return nil, fmt.Errorf("look for administrators: %w", err)
	}
	return last, nil
}

// checkAdministratorsRemain returns the last administrators among the persons whose rights a transaction
// removes. Of two concurrent transactions, the second one sees the changes of the first.
func (h *Handler) checkAdministratorsRemain(ctx context.Context, tx pgx.Tx, persons []int64) ([]int64, error) {
	if len(persons) == 0 {
		return nil, nil
	}
	var any bool
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT`+administrators+` AND u.person_id = ANY($3))`, tenant.Of(ctx), h.now(ctx), persons).Scan(&any)
	if err != nil || !any {
		return nil, err
	}
	if err := lockAdministrators.Wait(ctx, tx); err != nil {
		return nil, err
	}
	return lastAdministrators(ctx, tx, persons, h.now(ctx))
}

// checkAdministratorsRemainAmong refuses users whose new access profiles would leave no administrator.
func (h *Handler) checkAdministratorsRemainAmong(ctx context.Context, tx pgx.Tx, users []*authv1.User) error {
	names := make([]string, len(users))
	for i, u := range users {
		names[i] = u.GetAccessProfile()
	}
	all, err := pg.Collect(ctx, tx, pgx.RowTo[string], `SELECT name FROM access_profile WHERE tenant_id = $1 AND name = ANY($2)
		AND '*' = ANY(permissions) AND row_scope = 'all'`, tenant.Of(ctx), names)
	if err != nil {
		return fmt.Errorf("look for access profiles: %w", err)
	}
	var lesser []int64
	persons := make([]int64, len(users))
	for i, u := range users {
		persons[i] = u.GetPersonId()
		if !slices.Contains(all, u.GetAccessProfile()) {
			lesser = append(lesser, u.GetPersonId())
		}
	}
	last, err := h.checkAdministratorsRemain(ctx, tx, lesser)
	if err != nil {
		return err
	}
	return refuseLast(persons, last)
}

// refuseLast returns the error for persons that include the last administrators, or nil.
func refuseLast(persons, last []int64) error {
	if len(last) == 0 {
		return nil
	}
	refused := make([]*fault.Error, len(persons))
	for i, id := range persons {
		if slices.Contains(last, id) {
			refused[i] = lastAdministrator()
		}
	}
	return bulkError(refused)
}

// recordInitiator names the initiator of a service's call in the audit log.
func recordInitiator(ctx context.Context, by *authv1.Initiator, persons []int64) {
	for _, id := range persons {
		audit.Object(ctx, id)
	}
	if p, ok := authn.From(ctx); by == nil || !ok || !p.IsService() {
		return
	}
	who := audit.Initiator{User: by.GetUserName(), PersonID: by.GetPersonId(), Client: by.GetClientId()}
	if obs.ValidRequestID(by.GetRequestId()) {
		who.RequestID = by.GetRequestId()
	}
	audit.SetInitiator(ctx, who)
}

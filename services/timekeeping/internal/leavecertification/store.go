package leavecertification

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

func list(ctx context.Context, db pg.Querier, c *leavecase.Case) ([]*timekeepingv1.LeaveCertification, error) {
	rows, err := db.Query(ctx, `SELECT id, body, entered_by, entered_by_id, updated_at > entered_at, entered_at FROM leave_certification
		WHERE tenant_id = $1 AND leave_case_id = $2 ORDER BY from_day, id LIMIT $3`, tenant.Of(ctx), c.ID, maxOfCase)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*timekeepingv1.LeaveCertification, error) {
		out := &timekeepingv1.LeaveCertification{}
		var body []byte
		var id int64
		var by user
		var updated bool
		var entered time.Time
		if err := row.Scan(&id, &body, &by.name, &by.person, &updated, &entered); err != nil {
			return nil, err
		}
		if err := proto.Unmarshal(body, out); err != nil {
			return nil, fmt.Errorf("decode leave certification %d: %w", id, err)
		}
		fill(out, c, id, by, updated, entered)
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read leave certifications: %w", err)
	}
	return found, nil
}

// user is the user who entered a certification: the user name, and the id of the person or 0.
type user struct {
	name   string
	person int64
}

func (u user) ref() *commonv1.Ref {
	if u.name == "" {
		return nil
	}
	out := &commonv1.Ref{Qualifier: &u.name, Name: &u.name}
	if u.person != 0 {
		out.Id = &u.person
	}
	return out
}

// fill sets the properties that the stored body does not contain.
func fill(out *timekeepingv1.LeaveCertification, c *leavecase.Case, id int64, by user, updated bool, entered time.Time) {
	out.Id, out.LeaveCase, out.EnteredBy = &id, c.Ref(), by.ref()
	out.EnteredOn, out.Updated = entered.UTC().Format("2006-01-02T15:04:05.000"), &updated
}

// save stores a new certification or, with an id, replaces one of the case. Concurrent requests can
// exceed the maximum number by a few.
func save(ctx context.Context, db pg.Querier, c *leavecase.Case, id int64, first civil.Date, body *timekeepingv1.LeaveCertification, by user) (*timekeepingv1.LeaveCertification, error) {
	tenantID := tenant.Of(ctx)
	bytes, err := proto.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode leave certification: %w", err)
	}
	sql := `INSERT INTO leave_certification (tenant_id, leave_case_id, from_day, body, entered_by, entered_by_id)
		SELECT $1, $2, $3, $4, $5, $6 WHERE (SELECT count(*) FROM leave_certification WHERE tenant_id = $1 AND leave_case_id = $2) < $7
		RETURNING id, entered_by, entered_by_id, updated_at > entered_at, entered_at`
	args := []any{tenantID, c.ID, first, bytes, by.name, by.person, maxOfCase}
	none := fmt.Sprintf("The leave case has %d certifications already.", maxOfCase)
	if id != 0 {
		sql = `UPDATE leave_certification SET from_day = $4, body = $5, updated_at = now()
			WHERE tenant_id = $1 AND leave_case_id = $2 AND id = $3
			RETURNING id, entered_by, entered_by_id, updated_at > entered_at, entered_at`
		args = []any{tenantID, c.ID, id, first, bytes}
		none = fmt.Sprintf("The leave case has no certification with the id %d.", id)
	}
	var updated bool
	var entered time.Time
	err = db.QueryRow(ctx, sql, args...).Scan(&id, &by.name, &by.person, &updated, &entered)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fault.Invalid(fault.CodeInput, none)
	case pgerr.IsForeignKey(err, ""):
		return nil, fault.Invalid(leavecase.CodeCaseUnknown, "The leave case was deleted.").WithCause(err)
	case err != nil:
		return nil, fmt.Errorf("store leave certification: %w", err)
	}
	fill(body, c, id, by, updated, entered)
	return body, nil
}

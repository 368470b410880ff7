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
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
)

func list(ctx context.Context, db pg.Querier, tenantID int64, c *leavecase.Case) ([]*timekeepingv1.LeaveCertification, error) {
	rows, err := db.Query(ctx, `SELECT id, body, entered_by, entered_at, updated_at FROM leave_certification
		WHERE tenant_id = $1 AND leave_case_id = $2 ORDER BY from_day, id LIMIT $3`, tenantID, c.ID, maxOfCase)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*timekeepingv1.LeaveCertification, error) {
		out := &timekeepingv1.LeaveCertification{}
		var body []byte
		var id int64
		var by string
		var entered, updated time.Time
		if err := row.Scan(&id, &body, &by, &entered, &updated); err != nil {
			return nil, err
		}
		if err := proto.Unmarshal(body, out); err != nil {
			return nil, fmt.Errorf("decode leave certification %d: %w", id, err)
		}
		fill(out, c, id, by, entered, updated)
		return out, nil
	})
	if err != nil {
		return nil, fmt.Errorf("read leave certifications: %w", err)
	}
	return found, nil
}

// fill fills in what the body does not hold.
func fill(out *timekeepingv1.LeaveCertification, c *leavecase.Case, id int64, by string, entered, updated time.Time) {
	const layout = "2006-01-02T15:04:05.000"
	out.Id, out.LeaveCase = &id, c.Ref()
	if by != "" {
		out.EnteredBy = &commonv1.Ref{Qualifier: &by, Name: &by}
	}
	out.EnteredOn, out.Updated = entered.UTC().Format(layout), updated.UTC().Format(layout)
}

// save stores a new certification, or, with an id, replaces one of the case. Who
// adds many at once may pass the bound by a few.
func save(ctx context.Context, db pg.Querier, tenantID int64, c *leavecase.Case, id int64, first civil.Date, body *timekeepingv1.LeaveCertification, by string) (*timekeepingv1.LeaveCertification, error) {
	bytes, err := proto.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode leave certification: %w", err)
	}
	sql := `INSERT INTO leave_certification (tenant_id, leave_case_id, from_day, body, entered_by)
		SELECT $1, $2, $3, $4, $5 WHERE (SELECT count(*) FROM leave_certification WHERE tenant_id = $1 AND leave_case_id = $2) < $6
		RETURNING id, entered_by, entered_at, updated_at`
	args := []any{tenantID, c.ID, first, bytes, by, maxOfCase}
	none := fmt.Sprintf("The leave case has %d certifications already.", maxOfCase)
	if id != 0 {
		sql = `UPDATE leave_certification SET from_day = $4, body = $5, updated_at = now()
			WHERE tenant_id = $1 AND leave_case_id = $2 AND id = $3
			RETURNING id, entered_by, entered_at, updated_at`
		args = []any{tenantID, c.ID, id, first, bytes}
		none = fmt.Sprintf("The leave case has no certification with the id %d.", id)
	}
	var entered, updated time.Time
	err = db.QueryRow(ctx, sql, args...).Scan(&id, &by, &entered, &updated)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, fault.Invalid(fault.CodeInput, none)
	case pg.IsForeignKey(err, ""):
		return nil, fault.Invalid(leavecase.CodeCaseUnknown, "The leave case was deleted.").WithCause(err)
	case err != nil:
		return nil, fmt.Errorf("store leave certification: %w", err)
	}
	fill(body, c, id, by, entered, updated)
	return body, nil
}

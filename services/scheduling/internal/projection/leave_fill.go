package projection

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

const (
	fillPage = 1000
	// fillAgain is the pause before the next try when timekeeping does not answer.
	fillAgain = 5 * time.Second
)

// FillLeaveEdits asks timekeeping, once after a start, for the leave edits of
// the employees of whom more has happened than is known here: of everybody when
// the database is new, of nobody as a rule. Events tell of what happens from
// then on. It tries until it succeeds; that several processes do the same at
// once costs time only.
func FillLeaveEdits(ctx context.Context, pool *pgxpool.Pool, source LeaveSource, wake func(), log *slog.Logger) error {
	for {
		filled, err := fillLeaveEdits(ctx, pool, source, fillPage)
		if filled > 0 {
			wake()
			log.InfoContext(ctx, "missed leave edits were asked for", "employees", filled)
		}
		if err == nil {
			return nil
		}
		log.WarnContext(ctx, "missed leave edits could not be asked for; trying again", "error", err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(fillAgain):
		}
	}
}

// fillLeaveEdits goes through all employees once, and returns how many of them
// were behind.
func fillLeaveEdits(ctx context.Context, pool *pgxpool.Pool, source LeaveSource, page int32) (int, error) {
	filled := 0
	request := &timekeepingv1.ListLeaveEditHeadsRequest{PageSize: page}
	for {
		answer, err := source.ListLeaveEditHeads(ctx, request)
		if err != nil {
			return filled, fmt.Errorf("projection: ask how far leave edits are: %w", err)
		}
		heads := answer.GetHeads()
		for len(heads) > 0 {
			n := 1
			for n < len(heads) && heads[n].GetTenantId() == heads[0].GetTenantId() {
				n++
			}
			fetched, err := fillTenant(tenant.With(ctx, heads[0].GetTenantId()), pool, source, heads[0].GetTenantId(), heads[:n])
			filled += fetched
			if err != nil {
				return filled, err
			}
			request.After, heads = heads[n-1], heads[n:]
		}
		if !answer.GetMore() {
			return filled, nil
		}
	}
}

// fillTenant fetches what employees of one tenant have of whom less is known
// than their heads say.
func fillTenant(ctx context.Context, pool *pgxpool.Pool, source LeaveSource, tenantID int64, heads []*timekeepingv1.LeaveEditHead) (int, error) {
	ids := make([]int64, len(heads))
	versions := make([]int64, len(heads))
	for i, h := range heads {
		ids[i], versions[i] = h.GetEmployeeId(), h.GetVersion()
	}
	rows, err := pool.Query(ctx, `SELECT q.id FROM unnest($2::bigint[], $3::bigint[]) AS q (id, version)
		LEFT JOIN leave_edit_head h ON h.tenant_id = $1 AND h.employee_id = q.id
		WHERE coalesce(h.version, 0) < q.version ORDER BY q.id`, tenantID, ids, versions)
	if err != nil {
		return 0, err
	}
	behind, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return 0, fmt.Errorf("projection: find who is behind: %w", err)
	}
	return len(behind), fetchLeaveEdits(ctx, pool, source, tenantID, behind)
}

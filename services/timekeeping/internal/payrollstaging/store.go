package payrollstaging

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/advisory"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// maxBatch is the maximum number of employees that a worker stages in one transaction.
const maxBatch = 200

// lockRuns is held by requests that start a run of a tenant.
const lockRuns advisory.Lock = "payroll staging"

// run is a row of the table.
type run struct {
	ID                 uuid.UUID
	State              string
	Batches, Remaining int
	Body               []byte
}

// start stores a run with its batches, and requests the batches.
func start(ctx context.Context, tx pgx.Tx, id uuid.UUID, r rules, employees []int64, seen rowvisibility.Set) error {
	tenantID := tenant.Of(ctx)
	if err := lockRuns.Wait(ctx, tx); err != nil {
		return err
	}
	var open int
	if err := tx.QueryRow(ctx, `SELECT count(*) FROM payroll_staging WHERE tenant_id = $1 AND finished_at IS NULL`, tenantID).Scan(&open); err != nil {
		return fmt.Errorf("count runs: %w", err)
	}
	name, used, err := freeName(ctx, tx, r.message.GetExecutionId(), seen)
	switch {
	case err != nil:
		return err
	case used != nil:
		return fault.Conflict(CodeUsed, fmt.Sprintf("executionId: the run %s already has it. Ask for its status, or choose another executionId.", used))
	case open >= maxRuns:
		return tooMany()
	}
	if err := namePayCodes(ctx, tx, r.message); err != nil {
		return err
	}
	body, err := proto.Marshal(r.message)
	if err != nil {
		return fmt.Errorf("store run: %w", err)
	}
	batches := slices.Collect(slices.Chunk(employees, maxBatch))
	if _, err := tx.Exec(ctx, `INSERT INTO payroll_staging (tenant_id, id, execution_id, start_date, end_date, body, batches, batches_left, state, finished_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7::int, $7, CASE WHEN $7 = 0 THEN 'success' ELSE 'pending' END, CASE WHEN $7 = 0 THEN now() END)`,
		tenantID, id, name, r.days.From, r.days.To, body, len(batches)); err != nil {
		return fmt.Errorf("store run: %w", err)
	}
	rows := &pgx.Batch{}
	var events []proto.Message
	for i, ids := range batches {
		rows.Queue(`INSERT INTO payroll_staging_batch (tenant_id, staging_id, batch, employee_ids) VALUES ($1, $2, $3, $4)`, tenantID, id, i, ids)
		events = append(events, &timekeepingv1.PayrollStagingBatchRequested{RequestId: id.String(), Batch: int32(i)})
	}
	if rows.Len() > 0 {
		if err := tx.SendBatch(ctx, rows).Close(); err != nil {
			return fmt.Errorf("store batches: %w", err)
		}
	}
	return outbox.Append(ctx, tx, events...)
}

// namePayCodes adds the ids of the pay codes that a request selects by name. Later runs must be
// able to tell which pay codes this run staged, even after a pay code is renamed.
func namePayCodes(ctx context.Context, tx pgx.Tx, req *timekeepingv1.PayrollStagingRequest) error {
	var names []string
	refs := slices.Concat(req.GetIncludePayCodes(), req.GetExcludePayCodes())
	for _, ref := range refs {
		names = append(names, ref.GetQualifier())
	}
	rows, err := tx.Query(ctx, `SELECT id, name FROM pay_code WHERE tenant_id = $1 AND lower(name) IN (SELECT lower(n) FROM unnest($2::text[]) AS n)`, tenant.Of(ctx), names)
	if err != nil {
		return fmt.Errorf("read pay codes: %w", err)
	}
	var id int64
	var name string
	if _, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error {
		for _, ref := range refs {
			if ref.GetId() == 0 && strings.EqualFold(ref.GetQualifier(), name) {
				ref.Id = proto.Int64(id)
			}
		}
		return nil
	}); err != nil {
		return fmt.Errorf("read pay codes: %w", err)
	}
	return nil
}

func readRun(ctx context.Context, db pg.Querier, id uuid.UUID) (*run, error) {
	r := &run{ID: id}
	err := db.QueryRow(ctx, `SELECT state, batches, batches_left, body FROM payroll_staging WHERE tenant_id = $1 AND id = $2 AND state <> 'expired'`,
		tenant.Of(ctx), id).Scan(&r.State, &r.Batches, &r.Remaining, &r.Body)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read run: %w", err)
	}
	return r, nil
}

// visibleEmployees returns the employees that a caller sees, up to one more than a run may stage.
func visibleEmployees(ctx context.Context, db pg.Querier, visible rowvisibility.Set) ([]int64, error) {
	if !visible.All() {
		return visible.IDs(), nil
	}
	rows, err := db.Query(ctx, `SELECT id FROM person WHERE tenant_id = $1 ORDER BY id LIMIT $2`, tenant.Of(ctx), maxEmployees+1)
	if err != nil {
		return nil, fmt.Errorf("read persons: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// findTerminated returns the employees whose employment is terminated on one of the days, including
// both dates.
func findTerminated(ctx context.Context, db pg.Querier, ids []int64, days civil.Range) ([]int64, error) {
	rows, err := db.Query(ctx, `SELECT id FROM person WHERE tenant_id = $1 AND id = ANY($2)
		AND terminated && daterange($3, $4, '[]') ORDER BY id`, tenant.Of(ctx), ids, days.From, days.To)
	if err != nil {
		return nil, fmt.Errorf("read terminations: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// stagedEmployee is a row of the table.
type stagedEmployee struct {
	ID                int64
	Number, ErrorCode string
	Message           string
}

func stagedEmployees(ctx context.Context, db pg.Querier, id uuid.UUID) ([]stagedEmployee, error) {
	rows, err := db.Query(ctx, `SELECT employee_id, person_number, error_code, message FROM payroll_staged_employee
		WHERE tenant_id = $1 AND staging_id = $2 ORDER BY employee_id`, tenant.Of(ctx), id)
	if err != nil {
		return nil, fmt.Errorf("read staged employees: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[stagedEmployee])
}

// selectVisible finds the runs that have a visible employee. It also finds the runs without
// employees, which show nothing about a person.
const selectVisible = `
SELECT s.id FROM payroll_staging s WHERE s.tenant_id = $1 AND s.id = ANY($2)
  AND (s.batches = 0 OR $3 OR EXISTS (
    SELECT FROM payroll_staging_batch b WHERE b.tenant_id = $1 AND b.staging_id = s.id AND b.employee_ids && $4::bigint[]))`

// visibleRuns returns those of the given runs that the caller may see.
func visibleRuns(ctx context.Context, db pg.Querier, visible rowvisibility.Set, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	employees := visible.IDs()
	if visible.All() || employees == nil {
		employees = []int64{}
	}
	rows, err := db.Query(ctx, selectVisible, tenant.Of(ctx), ids, visible.All(), employees)
	if err != nil {
		return nil, fmt.Errorf("find visible runs: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, fmt.Errorf("find visible runs: %w", err)
	}
	out := make(map[uuid.UUID]bool, len(found))
	for _, id := range found {
		out[id] = true
	}
	return out, nil
}

// freeName returns the name for storing a run with an executionId, or the run that already has it.
// A run that the caller may not see does not block the name: the new run then gets a name that is
// derived from the executionId and the user.
func freeName(ctx context.Context, db pg.Querier, executionID string, visible rowvisibility.Set) (name string, used *uuid.UUID, err error) {
	user := ""
	if p, ok := authn.From(ctx); ok {
		user = p.Subject
	}
	sum := sha256.Sum256([]byte(executionID + "\x00" + user))
	derived := hex.EncodeToString(sum[:])
	rows, err := db.Query(ctx, `SELECT execution_id, id FROM payroll_staging WHERE tenant_id = $1 AND execution_id = ANY($2)`,
		tenant.Of(ctx), []string{executionID, derived})
	if err != nil {
		return "", nil, fmt.Errorf("find a run by its executionId: %w", err)
	}
	taken := map[string]uuid.UUID{}
	var text string
	var id uuid.UUID
	if _, err := pgx.ForEachRow(rows, []any{&text, &id}, func() error { taken[text] = id; return nil }); err != nil {
		return "", nil, fmt.Errorf("find a run by its executionId: %w", err)
	}
	if mine, ok := taken[derived]; ok {
		return "", &mine, nil
	}
	other, ok := taken[executionID]
	if !ok {
		return executionID, nil, nil
	}
	shown, err := visibleRuns(ctx, db, visible, []uuid.UUID{other})
	if err != nil || shown[other] {
		return "", &other, err
	}
	return derived, nil, nil
}

package employmentterm

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/pgerr"
	"github.com/rotaloom/rotaloom/pkg/precondition"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// row is a stored term.
type row struct {
	id      int64
	version int64
	term    *schedulingv1.EmploymentTerm
}

// check returns an error if the request expects another version of the term.
func (r row) check(ctx context.Context) error {
	return precondition.Check(ctx, fmt.Sprintf("employment term %d", r.id), r.version)
}

// changedEvent returns the event with the current state of the row.
func (r row) changedEvent(deleted bool) *schedulingv1.EmploymentTermChanged {
	return &schedulingv1.EmploymentTermChanged{
		Id:                r.id,
		Name:              r.term.GetName(),
		AllowsInheritance: r.term.GetAllowsInheritance(),
		Deleted:           deleted,
		Version:           r.version,
	}
}

func scanRow(rows pgx.CollectableRow) (row, error) {
	var r row
	var body []byte
	if err := rows.Scan(&r.id, &r.version, &body); err != nil {
		return r, err
	}
	r.term = &schedulingv1.EmploymentTerm{}
	if err := proto.Unmarshal(body, r.term); err != nil {
		return r, fmt.Errorf("decode employment term %d: %w", r.id, err)
	}
	r.term.Id = r.id
	return r, nil
}

func collect(ctx context.Context, db pg.Querier, sql string, args ...any) ([]row, error) {
	return pg.Collect(ctx, db, scanRow, sql, args...)
}

// get returns one term. forUpdate locks it until the transaction ends.
func get(ctx context.Context, db pg.Querier, id int64, forUpdate bool) (row, error) {
	sql := `SELECT id, version, body FROM employment_term WHERE tenant_id = $1 AND id = $2`
	if forUpdate {
		sql += ` FOR NO KEY UPDATE`
	}
	rows, err := db.Query(ctx, sql, tenant.Of(ctx), id)
	if err != nil {
		return row{}, err
	}
	r, err := pgx.CollectExactlyOneRow(rows, scanRow)
	if errors.Is(err, pgx.ErrNoRows) {
		return row{}, fault.NotFound(CodeUnknownID, fmt.Sprintf("There is no employment term with id %d.", id))
	}
	return r, err
}

// list returns the terms in order of their names, at most limit.
func list(ctx context.Context, db pg.Querier, limit int) ([]row, error) {
	return collect(ctx, db, `SELECT id, version, body FROM employment_term
		WHERE tenant_id = $1 ORDER BY lower(name) LIMIT $2`, tenant.Of(ctx), limit)
}

func findByIDs(ctx context.Context, db pg.Querier, ids []int64) (map[int64]row, error) {
	found, err := collect(ctx, db, `SELECT id, version, body FROM employment_term
		WHERE tenant_id = $1 AND id = ANY($2)`, tenant.Of(ctx), ids)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]row, len(found))
	for _, r := range found {
		out[r.id] = r
	}
	return out, nil
}

// lockByIDs is like findByIDs, but also locks the terms until the transaction ends.
func lockByIDs(ctx context.Context, tx pgx.Tx, ids []int64) (map[int64]row, error) {
	found, err := collect(ctx, tx, `SELECT id, version, body FROM employment_term
		WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE`, tenant.Of(ctx), ids)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]row, len(found))
	for _, r := range found {
		out[r.id] = r
	}
	return out, nil
}

// findByNames returns the terms with the names, ignoring case. The keys are the names as given.
func findByNames(ctx context.Context, db pg.Querier, names []string) (map[string]row, error) {
	return findByText(ctx, db, `SELECT q.text, t.id, t.version, t.body
		FROM unnest($2::text[]) AS q (text)
		JOIN employment_term t ON t.tenant_id = $1 AND lower(t.name) = lower(q.text)`, names)
}

func findByPersistentIDs(ctx context.Context, db pg.Querier, ids []string) (map[string]row, error) {
	return findByText(ctx, db, `SELECT t.persistent_id, t.id, t.version, t.body
		FROM employment_term t WHERE t.tenant_id = $1 AND t.persistent_id = ANY($2)`, ids)
}

func findByText(ctx context.Context, db pg.Querier, sql string, texts []string) (map[string]row, error) {
	rows, err := db.Query(ctx, sql, tenant.Of(ctx), texts)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make(map[string]row, len(texts))
	for rows.Next() {
		var text string
		r := row{term: &schedulingv1.EmploymentTerm{}}
		var body []byte
		if err := rows.Scan(&text, &r.id, &r.version, &body); err != nil {
			return nil, err
		}
		if err := proto.Unmarshal(body, r.term); err != nil {
			return nil, fmt.Errorf("decode employment term %d: %w", r.id, err)
		}
		r.term.Id = r.id
		out[text] = r
	}
	return out, rows.Err()
}

func insert(ctx context.Context, db pg.Querier, term *schedulingv1.EmploymentTerm) (row, error) {
	body, err := proto.Marshal(term)
	if err != nil {
		return row{}, fmt.Errorf("encode employment term: %w", err)
	}
	r := row{term: term}
	err = db.QueryRow(ctx, `INSERT INTO employment_term (tenant_id, name, persistent_id, allows_inheritance, body)
		VALUES ($1, $2, nullif($3, ''), $4, $5) RETURNING id, version`,
		tenant.Of(ctx), term.GetName(), term.GetPersistentId(), term.GetAllowsInheritance(), body).Scan(&r.id, &r.version)
	if err != nil {
		return row{}, duplicateError(err, term)
	}
	r.term.Id = r.id
	return r, nil
}

func update(ctx context.Context, db pg.Querier, id int64, term *schedulingv1.EmploymentTerm) (row, error) {
	body, err := proto.Marshal(term)
	if err != nil {
		return row{}, fmt.Errorf("encode employment term: %w", err)
	}
	r := row{id: id, term: term}
	err = db.QueryRow(ctx, `UPDATE employment_term
		SET name = $3, persistent_id = nullif($4, ''), allows_inheritance = $5, body = $6,
		    version = version + 1, updated_at = now()
		WHERE tenant_id = $1 AND id = $2 RETURNING version`,
		tenant.Of(ctx), id, term.GetName(), term.GetPersistentId(), term.GetAllowsInheritance(), body).Scan(&r.version)
	if err != nil {
		return row{}, duplicateError(err, term)
	}
	r.term.Id = id
	return r, nil
}

// remove deletes a term, and returns its last state with the version of the deletion.
func remove(ctx context.Context, db pg.Querier, id int64) (row, error) {
	rows, err := db.Query(ctx, `DELETE FROM employment_term WHERE tenant_id = $1 AND id = $2
		RETURNING id, version + 1, body`, tenant.Of(ctx), id)
	if err != nil {
		return row{}, err
	}
	r, err := pgx.CollectExactlyOneRow(rows, scanRow)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return row{}, fault.NotFound(CodeUnknownID, fmt.Sprintf("There is no employment term with id %d.", id))
	case pgerr.IsForeignKey(err, "membership_employment_term"):
		return row{}, fault.Invalid(CodeInUse,
			fmt.Sprintf("Persons are assigned to employment term %d. Remove their assignments first.", id)).WithCause(err)
	}
	return r, err
}

func duplicateError(err error, term *schedulingv1.EmploymentTerm) error {
	switch {
	case pgerr.IsUnique(err, "employment_term_name"):
		return fault.Invalid(CodeExists, fmt.Sprintf("An employment term with the name %q exists already.", term.GetName())).WithCause(err)
	case pgerr.IsUnique(err, "employment_term_persistent_id"):
		return fault.Invalid(CodeExists, fmt.Sprintf("An employment term with the persistentId %q exists already.", term.GetPersistentId())).WithCause(err)
	}
	return err
}

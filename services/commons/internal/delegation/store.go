package delegation

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// delegation is a row, with the names and numbers of its persons.
type delegation struct {
	ID                             int64
	Delegator, Delegate            int64
	Role                           string
	Start, End                     civil.Date
	DelegatorNumber, DelegatorName string
	DelegateNumber, DelegateName   string
}

const columns = `SELECT d.id, d.delegator_id, d.delegate_id, d.role, d.start_date, d.end_date,
		a.person_number, a.full_name, b.person_number, b.full_name
	FROM delegation d
	JOIN person a ON a.tenant_id = d.tenant_id AND a.id = d.delegator_id
	JOIN person b ON b.tenant_id = d.tenant_id AND b.id = d.delegate_id
	WHERE d.tenant_id = $1 `

// running returns the delegations to a person that are active on a day.
func running(ctx context.Context, db pg.Querier, delegate int64, today civil.Date) ([]delegation, error) {
	return query(ctx, db, `AND d.delegate_id = $2 AND d.start_date <= $3 AND d.end_date >= $3 ORDER BY d.id`, tenant.Of(ctx), delegate, today)
}

// involving returns the delegations from and to a person that end on a day or later, ordered
// by their start.
func involving(ctx context.Context, db pg.Querier, person int64, today civil.Date) ([]delegation, error) {
	return query(ctx, db, `AND (d.delegate_id = $2 OR d.delegator_id = $2) AND d.end_date >= $3 ORDER BY d.start_date, d.id`, tenant.Of(ctx), person, today)
}

func query(ctx context.Context, db pg.Querier, where string, args ...any) ([]delegation, error) {
	found, err := pg.Collect(ctx, db, pgx.RowToStructByPos[delegation], columns+where, args...)
	if err != nil {
		return nil, fmt.Errorf("read delegations: %w", err)
	}
	return found, nil
}

// lockPersons serializes changes to the delegations of the same persons.
func lockPersons(ctx context.Context, tx pgx.Tx, persons ...int64) error {
	if _, err := tx.Exec(ctx, `SELECT FROM person WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE`, tenant.Of(ctx), persons); err != nil {
		return fmt.Errorf("lock persons: %w", err)
	}
	return nil
}

// insert stores a delegation and returns its id. It removes the delegator's delegations that
// ended before a day.
func insert(ctx context.Context, tx pgx.Tx, d delegation, before civil.Date) (id int64, err error) {
	tenantID := tenant.Of(ctx)
	if _, err := tx.Exec(ctx, `DELETE FROM delegation WHERE tenant_id = $1 AND delegator_id = $2 AND end_date < $3`,
		tenantID, d.Delegator, before); err != nil {
		return 0, fmt.Errorf("remove delegations that ended: %w", err)
	}
	err = tx.QueryRow(ctx, `INSERT INTO delegation (tenant_id, delegator_id, delegate_id, role, start_date, end_date)
		VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`, tenantID, d.Delegator, d.Delegate, d.Role, d.Start, d.End).Scan(&id)
	if err != nil {
		return 0, fmt.Errorf("store delegation: %w", err)
	}
	return id, nil
}

// remove deletes a delegation if the person is its delegator or delegate, or in any case if
// anybodys is set. It reports whether it deleted a row.
func remove(ctx context.Context, tx pgx.Tx, id, person int64, anybodys bool) (bool, error) {
	var gone int64
	err := tx.QueryRow(ctx, `DELETE FROM delegation WHERE tenant_id = $1 AND id = $2 AND ($4 OR $3 IN (delegator_id, delegate_id)) RETURNING id`,
		tenant.Of(ctx), id, person, anybodys).Scan(&gone)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("end delegation: %w", err)
	}
	return true, nil
}

// message returns a delegation as responses show it on a day.
func (d delegation) message(today civil.Date) *commonsv1.Delegation {
	person := func(id int64, number, name string) *commonsv1.DelegationPerson {
		return &commonsv1.DelegationPerson{Id: &id, Qualifier: &number, FullName: name}
	}
	out := &commonsv1.Delegation{
		Id: &d.ID, Delegator: person(d.Delegator, d.DelegatorNumber, d.DelegatorName), Delegate: person(d.Delegate, d.DelegateNumber, d.DelegateName),
		StartDate: d.Start.String(), EndDate: d.End.String(), Status: "ACTIVE",
	}
	if d.Start > today {
		out.Status = "PENDING"
	}
	if d.Role != "" {
		out.Role = &commonv1.Ref{Qualifier: &d.Role}
	}
	return out
}

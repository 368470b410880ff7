package propagation

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Members is a number of employees of a term.
type Members struct{ TermID, Count int64 }

const (
	// The index by term holds all that is needed.
	selectMissing = `
SELECT u.term_id, u.expected - k.members, coalesce(s.members, 0)
FROM unnest($2::bigint[], $3::bigint[]) AS u (term_id, expected)
CROSS JOIN LATERAL (
    SELECT count(DISTINCT employee_id) AS members FROM membership WHERE tenant_id = $1 AND employment_term_id = u.term_id
) AS k
LEFT JOIN membership_shortage s ON s.tenant_id = $1 AND s.employment_term_id = u.term_id`

	// Some of them have come.
	deleteShortage = `DELETE FROM membership_shortage WHERE tenant_id = $1 AND employment_term_id = ANY($2)`

	setExpected = `UPDATE propagation SET expected_term_ids = $3, expected_members = $4 WHERE tenant_id = $1 AND id = $2`
)

// unzip returns terms and counts as the database takes them.
func unzip(list []Members) (terms, counts []int64) {
	for _, m := range list {
		terms, counts = append(terms, m.TermID), append(counts, m.Count)
	}
	return terms, counts
}

// Missing returns how many of the expected members of terms are not known, where
// it is more than did not come although they were waited for. It works for the
// tenant of ctx.
func Missing(ctx context.Context, db pg.Querier, expected []Members) ([]Members, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil || len(expected) == 0 {
		return nil, err
	}
	terms, counts := unzip(expected)
	rows, err := db.Query(ctx, selectMissing, tenantID, terms, counts)
	if err != nil {
		return nil, fmt.Errorf("propagation: count missing members: %w", err)
	}
	var missing []Members
	var came []int64
	var m Members
	var given int64
	_, err = pgx.ForEachRow(rows, []any{&m.TermID, &m.Count, &given}, func() error {
		if m.Count > given {
			missing = append(missing, m)
		} else if m.Count < given {
			came = append(came, m.TermID)
		}
		return nil
	})
	if err == nil && len(came) > 0 {
		_, err = db.Exec(ctx, deleteShortage, tenantID, came)
	}
	if err != nil {
		return nil, fmt.Errorf("propagation: count missing members: %w", err)
	}
	return missing, nil
}

// Expect has the plan of a propagation wait until as many employees are known of
// terms, in the transaction that started it. Whoever was put on a term a moment
// ago is then among those whom the change concerns, although the event of it is
// still on its way.
func Expect(ctx context.Context, tx pgx.Tx, id int64, expected []Members) error {
	tenantID, err := tenant.Of(ctx)
	if err != nil || id == 0 || len(expected) == 0 {
		return err
	}
	terms, counts := unzip(expected)
	if _, err := tx.Exec(ctx, setExpected, tenantID, id, terms, counts); err != nil {
		return fmt.Errorf("propagation: expect members: %w", err)
	}
	return nil
}

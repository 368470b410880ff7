package projection

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// defaultZone is the zone of a person for whom commons knows none.
const defaultZone = "UTC"

const upsertEmployees = `
INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone)
SELECT $1, u.* FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) AS u
ON CONFLICT (tenant_id, id) DO UPDATE SET
    person_number = excluded.person_number, full_name = excluded.full_name, time_zone = excluded.time_zone`

// applyPersons stores persons. Who is no more stays, without number and name,
// because schedules of the past are theirs.
func applyPersons(ctx context.Context, tx pgx.Tx, tenantID int64, changes []personChange) error {
	n := len(changes)
	ids, numbers, names, zones := make([]int64, n), make([]string, n), make([]string, n), make([]string, n)
	for i, c := range changes {
		ids[i], numbers[i], names[i] = c.Key, c.State.GetPersonNumber(), c.State.GetFullName()
		zones[i] = cmp.Or(c.State.GetTimeZone(), defaultZone)
	}
	if _, err := tx.Exec(ctx, upsertEmployees, tenantID, ids, numbers, names, zones); err != nil {
		return fmt.Errorf("projection: store employees: %w", err)
	}
	return nil
}

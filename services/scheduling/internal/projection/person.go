package projection

import (
	"cmp"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// defaultZone is the zone of a person for whom commons knows none.
const defaultZone = "UTC"

const upsertEmployees = `
INSERT INTO employee (tenant_id, id, person_number, full_name, time_zone, version)
SELECT $1, u.* FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[]) AS u
ON CONFLICT (tenant_id, id) DO UPDATE SET
    person_number = excluded.person_number, full_name = excluded.full_name,
    time_zone = excluded.time_zone, version = excluded.version
WHERE excluded.version > employee.version`

// applyPersons stores the states of persons that are newer than what is known.
func applyPersons(ctx context.Context, tx pgx.Tx, tenantID int64, states []*commonsv1.PersonState) error {
	states = newest(states, (*commonsv1.PersonState).GetPersonId, (*commonsv1.PersonState).GetVersion)
	ids, versions := make([]int64, len(states)), make([]int64, len(states))
	numbers, names, zones := make([]string, len(states)), make([]string, len(states)), make([]string, len(states))
	for i, s := range states {
		ids[i], versions[i] = s.GetPersonId(), s.GetVersion()
		numbers[i], names[i] = s.GetPersonNumber(), s.GetFullName()
		zones[i] = cmp.Or(s.GetTimeZone(), defaultZone)
	}
	if _, err := tx.Exec(ctx, upsertEmployees, tenantID, ids, numbers, names, zones, versions); err != nil {
		return fmt.Errorf("projection: store employees: %w", err)
	}
	return nil
}

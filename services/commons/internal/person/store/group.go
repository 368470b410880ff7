package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const (
	lockGroupManagers = `
SELECT id FROM person WHERE tenant_id = $1 AND id IN (
    SELECT person_id FROM person_access_assignment WHERE tenant_id = $1 AND manager_employee_group_name = $2)
ORDER BY id FOR NO KEY UPDATE`

	renameGroup = `UPDATE person_access_assignment SET manager_employee_group_name = $3 WHERE tenant_id = $1 AND manager_employee_group_name = $2`

	raiseVersions = `UPDATE person SET version = version + 1, updated_at = now() WHERE tenant_id = $1 AND id = ANY($2)`

	findGroupManagers = `
SELECT person_number FROM person WHERE tenant_id = $1 AND id IN (
    SELECT person_id FROM person_access_assignment WHERE tenant_id = $1 AND manager_employee_group_name = $2)
ORDER BY id LIMIT $3`

	personsPerEvent = 100
)

// RenameGroup writes the new name of a hyperfind into the persons whose employee group it is, on all days.
func RenameGroup(ctx context.Context, tx pgx.Tx, from, to string) error {
	tenantID := tenant.Of(ctx)
	ids, err := pg.Collect(ctx, tx, pgx.RowTo[int64], lockGroupManagers, tenantID, from)
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, step := range []struct {
		sql  string
		args []any
	}{{renameGroup, []any{tenantID, from, to}}, {raiseVersions, []any{tenantID, ids}}} {
		if _, err := tx.Exec(ctx, step.sql, step.args...); err != nil {
			return fmt.Errorf("rename an employee group: %w", err)
		}
	}
	for part := range slices.Chunk(ids, personsPerEvent) {
		states, err := ReadStates(ctx, tx, part)
		if err != nil {
			return err
		}
		if err := outbox.Append(ctx, tx, &commonsv1.PersonsChanged{Persons: states}); err != nil {
			return err
		}
	}
	return nil
}

// FindGroupManagers returns the numbers of the first persons whose employee group has a name on any day.
func FindGroupManagers(ctx context.Context, tx pgx.Tx, name string, limit int) ([]string, error) {
	numbers, err := pg.Collect(ctx, tx, pgx.RowTo[string], findGroupManagers, tenant.Of(ctx), name, limit)
	if err != nil {
		return nil, fmt.Errorf("find the persons of an employee group: %w", err)
	}
	return numbers, nil
}

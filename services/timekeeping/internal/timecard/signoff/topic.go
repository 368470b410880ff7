package signoff

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// Topic describes the last signed-off days of employees for services that keep copies.
func Topic() replica.Topic {
	return replica.Topic{
		Event: &timekeepingv1.TimecardSignoffChanged{},
		Tenants: `SELECT tenant_id FROM (` + replica.TenantsQuery("timecard_signoff") + `) AS signed
			UNION SELECT tenant_id FROM (` + replica.TenantsQuery("timecard_signoff_version") + `) AS changed`,
		Fingerprints: `
			SELECT employee_id AS key, max(version) AS mark FROM (
				SELECT employee_id, version FROM timecard_signoff_version WHERE tenant_id = $1 AND employee_id > $2 AND employee_id <= $3
				UNION ALL SELECT employee_id, 1 FROM timecard_signoff WHERE tenant_id = $1 AND employee_id > $2 AND employee_id <= $3
			) AS known GROUP BY 1`,
		States: states,
	}
}

const (
	// The first change of an employee has version 2, because copies may have the version 1 of an employee
	// without a row.
	raiseVersion = `
INSERT INTO timecard_signoff_version AS v (tenant_id, employee_id, version) VALUES ($1, $2, 2)
ON CONFLICT (tenant_id, employee_id) DO UPDATE SET version = v.version + 1 RETURNING version`

	setVersion = `
INSERT INTO timecard_signoff_version (tenant_id, employee_id, version) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id, employee_id) DO UPDATE SET version = excluded.version`

	// The locks prevent changes of the versions before they are raised.
	lockVersions = `
SELECT FROM timecard_signoff_version WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id FOR NO KEY UPDATE`

	readStates = `
SELECT asked.id, coalesce(v.version, 1), v.version IS NOT NULL,
       (SELECT max(through) FROM timecard_signoff WHERE tenant_id = $1 AND employee_id = asked.id)
FROM unnest($2::bigint[]) AS asked (id)
LEFT JOIN timecard_signoff_version v ON v.tenant_id = $1 AND v.employee_id = asked.id`
)

// publish publishes the sign-offs of an employee after a change in the same transaction. The timecard is
// locked.
func publish(ctx context.Context, tx pgx.Tx, employeeID int64) error {
	if _, err := tx.Exec(ctx, raiseVersion, tenant.Of(ctx), employeeID); err != nil {
		return fmt.Errorf("raise the version of sign-offs: %w", err)
	}
	stored, err := readChanges(ctx, tx, []int64{employeeID})
	if err != nil {
		return err
	}
	return outbox.Append(ctx, tx, stored[employeeID])
}

// readChanges returns the present sign-offs of employees as events. An employee who never had one is
// missing.
func readChanges(ctx context.Context, tx pgx.Tx, ids []int64) (map[int64]*timekeepingv1.TimecardSignoffChanged, error) {
	out := map[int64]*timekeepingv1.TimecardSignoffChanged{}
	var id, version int64
	var changed bool
	var through *civil.Date
	err := pg.ForEach(ctx, tx, []any{&id, &version, &changed, &through}, func() error {
		event := &timekeepingv1.TimecardSignoffChanged{EmployeeId: id, Version: version}
		if through != nil {
			event.Through = through.String()
		}
		if changed || through != nil {
			out[id] = event
		}
		return nil
	}, readStates, tenant.Of(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("read sign-offs: %w", err)
	}
	return out, nil
}

func states(ctx context.Context, tx pgx.Tx, gaps []replica.Gap) ([]proto.Message, error) {
	tenantID, ids := tenant.Of(ctx), replica.Keys(gaps)
	if _, err := tx.Exec(ctx, lockVersions, tenantID, ids); err != nil {
		return nil, fmt.Errorf("lock the versions of sign-offs: %w", err)
	}
	stored, err := readChanges(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	events := make([]proto.Message, len(gaps))
	for i, w := range gaps {
		event, exists := stored[w.Key]
		if !exists {
			events[i] = &timekeepingv1.TimecardSignoffChanged{EmployeeId: w.Key, Version: w.Version + 1, Deleted: true}
			continue
		}
		if raised := w.NextVersion(event.GetVersion()); raised != event.GetVersion() {
			event.Version = raised
			if _, err := tx.Exec(ctx, setVersion, tenantID, w.Key, raised); err != nil {
				return nil, fmt.Errorf("raise the version of sign-offs: %w", err)
			}
		}
		events[i] = event
	}
	return events, nil
}

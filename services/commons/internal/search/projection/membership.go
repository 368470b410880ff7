package projection

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/pg/condition"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	upsertTerms = `
INSERT INTO employment_term (tenant_id, id, name, deleted)
SELECT $1, u.* FROM unnest($2::bigint[], $3::text[], $4::bool[]) AS u
ON CONFLICT (tenant_id, id) DO UPDATE SET name = excluded.name, deleted = excluded.deleted`

	insertMemberships = `
INSERT INTO membership (tenant_id, person_id, employment_term_id, from_date, to_date)
SELECT $1, u.* FROM unnest($2::bigint[], $3::bigint[], $4::date[], $5::date[]) AS u`
)

// deleteMemberships deletes the memberships of persons.
var deleteMemberships = `DELETE FROM membership WHERE tenant_id = $1 AND ` + condition.AnyOf("person_id", "$2::bigint[]")

type (
	termChange       = replica.Change[*schedulingv1.EmploymentTermChanged]
	membershipChange = replica.Change[*schedulingv1.PersonMemberships]
)

func applyTerms(ctx context.Context, tx pgx.Tx, changes []termChange) error {
	var ids []int64
	var names []string
	var deleted []bool
	for _, c := range changes {
		ids, names, deleted = append(ids, c.Key), append(names, c.State.GetName()), append(deleted, c.Deleted)
	}
	if _, err := tx.Exec(ctx, upsertTerms, tenant.Of(ctx), ids, names, deleted); err != nil {
		return fmt.Errorf("projection: store employment terms: %w", err)
	}
	return nil
}

// applyMemberships replaces the memberships of persons.
func applyMemberships(ctx context.Context, tx pgx.Tx, changes []membershipChange) error {
	tenantID := tenant.Of(ctx)
	type row struct {
		Person, Term int64
		From, To     civil.Date
	}
	var ids []int64
	var rows []row
	for _, c := range changes {
		ids = append(ids, c.Key)
		for _, m := range c.State.GetMemberships() {
			days, err := membershipDays(m)
			if err != nil {
				// Retries cannot repair it.
				return bus.Permanent(fmt.Errorf("projection: memberships of person %d: %w", c.Key, err))
			}
			if days.Empty() {
				continue
			}
			rows = append(rows, row{c.Key, m.GetEmploymentTermId(), days.From, days.To})
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteMemberships, tenantID, ids)
	batch.Queue(insertMemberships, pg.Columns(rows, tenantID)...)
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store memberships: %w", err)
	}
	return nil
}

func membershipDays(m *schedulingv1.Membership) (civil.Range, error) {
	from, err := civil.ParseDate(m.GetFrom())
	if err != nil {
		return civil.Range{}, err
	}
	to, err := civil.ParseDate(m.GetTo())
	return civil.Range{From: from, To: to}.Clamp(), err
}

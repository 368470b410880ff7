package schedulegroup

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/personreference"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	findFormer   = `SELECT group_id FROM schedule_group_former_name WHERE tenant_id = $1 AND name_key = lower($2) AND group_id <> $3`
	listFormer   = `SELECT name FROM schedule_group_former_name WHERE tenant_id = $1 AND group_id = $2 ORDER BY changed_at`
	forgetFormer = `DELETE FROM schedule_group_former_name WHERE tenant_id = $1 AND name_key = lower($2) AND group_id = $3`

	keepFormer = `
INSERT INTO schedule_group_former_name (tenant_id, name, group_id) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id, name_key) DO UPDATE SET name = excluded.name, changed_at = excluded.changed_at`
)

// reference declares the references of persons to groups. A former name is deleted when persons have the
// present one; it may wait for a later name of the group.
var reference = &personreference.Kind{
	Reference: commonsv1.PersonReference_PERSON_REFERENCE_SCHEDULE_GROUP,
	What:      "schedule group",
	Waiting:   listFormer,
	Present:   `SELECT name FROM schedule_group WHERE tenant_id = $1 AND id = $2`,
	Followed: `
DELETE FROM schedule_group_former_name f USING schedule_group g
WHERE f.tenant_id = $1 AND f.name = $2 AND f.group_id = $3 AND g.tenant_id = $1 AND g.id = $3 AND g.name = $4`,
	Overdue: `
SELECT tenant_id, group_id FROM schedule_group_former_name
WHERE changed_at < clock_timestamp() - make_interval(secs => $1)
GROUP BY tenant_id, group_id ORDER BY min(changed_at) LIMIT $2`,
}

// keepFormer keeps the stored name of a group that gets another name. A name that persons may still have
// from another group is refused.
func (h *Handler) keepFormer(ctx context.Context, tx pgx.Tx, id int64, g *schedulingv1.ScheduleGroup) error {
	var other int64
	err := tx.QueryRow(ctx, findFormer, tenant.Of(ctx), g.GetName(), id).Scan(&other)
	switch {
	case err == nil:
		return fault.Invalid(CodeTaken, fmt.Sprintf(
			"%q has just become a former name of another schedule group, and its persons do not have the new name yet. Try again, or choose another name.",
			g.GetName())).WithMembers("name")
	case !errors.Is(err, pgx.ErrNoRows):
		return fmt.Errorf("find the schedule group of a former name: %w", err)
	case id == 0:
		return nil
	}
	stored, err := h.resource.Kind.GetForUpdate(ctx, tx, id)
	if err != nil || stored.GetName() == g.GetName() {
		return err
	}
	if _, err = tx.Exec(ctx, forgetFormer, tenant.Of(ctx), g.GetName(), id); err == nil {
		_, err = tx.Exec(ctx, keepFormer, tenant.Of(ctx), stored.GetName(), id)
	}
	if err != nil {
		return fmt.Errorf("keep the former name of schedule group %d: %w", id, err)
	}
	return nil
}

// checkNoPerson returns an error if persons have a group, also by a name that it had.
func (h *Handler) checkNoPerson(ctx context.Context, g *schedulingv1.ScheduleGroup) error {
	former, err := pg.Collect(ctx, h.resource.Pool, pgx.RowTo[string], listFormer, tenant.Of(ctx), g.GetId())
	if err != nil {
		return fmt.Errorf("read the former names of schedule group %d: %w", g.GetId(), err)
	}
	user, err := h.persons.FindUser(ctx, reference, append(former, g.GetName()))
	if err != nil || user == "" {
		return err
	}
	return h.resource.Kind.InUseError(user, g)
}

// Run lets the persons follow the names that requests could not complete, until ctx ends.
func (h *Handler) Run(ctx context.Context) error { return h.persons.Run(ctx) }

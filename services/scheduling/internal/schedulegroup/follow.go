package schedulegroup

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	// renameTimeout is the timeout of one call of commons, which stops earlier if there are many persons.
	renameTimeout = 10 * time.Second
	// The sweep runs every sweepEvery and takes up names that are older than sweepAfter. Newer names are
	// left to the requests that made them.
	sweepEvery = 2 * time.Second
	sweepAfter = 5 * time.Second
	sweepLimit = 100
)

const (
	findFormer   = `SELECT group_id FROM schedule_group_former_name WHERE tenant_id = $1 AND name_key = lower($2) AND group_id <> $3`
	listFormer   = `SELECT name FROM schedule_group_former_name WHERE tenant_id = $1 AND group_id = $2 ORDER BY changed_at`
	forgetFormer = `DELETE FROM schedule_group_former_name WHERE tenant_id = $1 AND name_key = lower($2) AND group_id = $3`

	keepFormer = `
INSERT INTO schedule_group_former_name (tenant_id, name, group_id) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id, name_key) DO UPDATE SET name = excluded.name, changed_at = excluded.changed_at`

	// The name may wait for a later name of the group.
	forgetFollowed = `
DELETE FROM schedule_group_former_name f USING schedule_group g
WHERE f.tenant_id = $1 AND f.name = $2 AND f.group_id = $3 AND g.tenant_id = $1 AND g.id = $3 AND g.name = $4`

	listWaiting = `
SELECT tenant_id, group_id FROM schedule_group_former_name
WHERE changed_at < clock_timestamp() - make_interval(secs => $1)
GROUP BY tenant_id, group_id ORDER BY min(changed_at) LIMIT $2`

	followed pg.Unaudited = "commons has what was changed and audited before"
)

var errIncomplete = errors.New("some persons still have the former name")

// Persons is the part of [commonsv1.PersonPayServiceClient] that finds and renames schedule groups in the
// data of persons.
type Persons interface {
	FindPaySetupUse(ctx context.Context, req *commonsv1.FindPaySetupUseRequest, opts ...grpc.CallOption) (*commonsv1.FindPaySetupUseResponse, error)
	RenamePaySetup(ctx context.Context, req *commonsv1.RenamePaySetupRequest, opts ...grpc.CallOption) (*commonsv1.RenamePaySetupResponse, error)
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
	former, err := h.formerNames(ctx, g.GetId())
	if err != nil {
		return err
	}
	found, err := h.persons.FindPaySetupUse(ctx, &commonsv1.FindPaySetupUseRequest{
		Kind: commonsv1.PaySetup_PAY_SETUP_SCHEDULE_GROUP, Names: append(former, g.GetName()),
	})
	if err != nil {
		return fmt.Errorf("find persons of schedule group %d: %w", g.GetId(), err)
	}
	numbers := make([]string, len(found.GetPersonNumbers()))
	for i, number := range found.GetPersonNumbers() {
		numbers[i] = strconv.Quote(number)
	}
	switch {
	case len(numbers) == 0:
		return nil
	case found.GetPersons() == 1:
		return h.resource.Kind.InUseError("The person "+numbers[0], g)
	}
	return h.resource.Kind.InUseError(fmt.Sprintf("Each of %d persons, such as %s,", found.GetPersons(), strings.Join(numbers, ", ")), g)
}

func (h *Handler) formerNames(ctx context.Context, id int64) ([]string, error) {
	names, err := pg.Collect(ctx, h.resource.Pool, pgx.RowTo[string], listFormer, tenant.Of(ctx), id)
	if err != nil {
		return nil, fmt.Errorf("read the former names of schedule group %d: %w", id, err)
	}
	return names, nil
}

// follow has commons write the present name of a group to the persons that have a former name. Repeated
// calls do no harm: no other group can have a former name that waits.
func (h *Handler) follow(ctx context.Context, id int64) error {
	waiting, err := h.formerNames(ctx, id)
	if err != nil || len(waiting) == 0 {
		return err
	}
	var present string
	if err := h.resource.Pool.QueryRow(ctx, `SELECT name FROM schedule_group WHERE tenant_id = $1 AND id = $2`, tenant.Of(ctx), id).Scan(&present); err != nil {
		return fmt.Errorf("read the name of schedule group %d: %w", id, err)
	}
	for _, former := range waiting {
		if err := h.rename(ctx, former, present); err != nil {
			return err
		}
		if _, err := followed.Exec(ctx, h.resource.Pool, forgetFollowed, tenant.Of(ctx), former, id, present); err != nil {
			return fmt.Errorf("note that persons have the new name of schedule group %d: %w", id, err)
		}
	}
	return nil
}

func (h *Handler) rename(ctx context.Context, former, present string) error {
	ctx, cancel := context.WithTimeout(ctx, renameTimeout)
	defer cancel()
	response, err := h.persons.RenamePaySetup(ctx, &commonsv1.RenamePaySetupRequest{Kind: commonsv1.PaySetup_PAY_SETUP_SCHEDULE_GROUP, From: former, To: present})
	if err != nil {
		return fmt.Errorf("rename a schedule group in the data of persons: %w", err)
	}
	if response.GetIncomplete() {
		return errIncomplete
	}
	return nil
}

// Run lets the persons follow the names that requests could not complete, until ctx ends.
func (h *Handler) Run(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := h.sweep(ctx); err != nil && ctx.Err() == nil {
				h.log.WarnContext(ctx, "persons do not have the new names of schedule groups yet; it is tried again", "error", err)
			}
		}
	}
}

// sweep follows the waiting names of all tenants.
func (h *Handler) sweep(ctx context.Context) error {
	type waiting struct{ Tenant, ID int64 }
	list, err := pg.Collect(tenant.All(ctx), h.resource.Pool, pgx.RowToStructByPos[waiting], listWaiting, sweepAfter.Seconds(), sweepLimit)
	if err != nil {
		return fmt.Errorf("look for new names of schedule groups: %w", err)
	}
	var failed error
	for _, w := range list {
		failed = errors.Join(failed, h.follow(tenant.With(ctx, w.Tenant), w.ID))
	}
	return failed
}

package opportunity

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/setup"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	recruitingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/recruiting/v1"
	"github.com/rotaloom/rotaloom/services/recruiting/internal/configuration"
)

type ref = recruitingv1.Ref

// resolver resolves the references of an opportunity, and collects the errors.
type resolver struct {
	ctx   context.Context
	tx    pgx.Tx
	found fault.List
}

// resolve returns the int64 id of the object of a reference, or nil without one. It writes the id into
// the reference, and no name, because names change.
func resolve[T setup.Message](r *resolver, kind interface {
	Resolve(ctx context.Context, tx pgx.Tx, path string, ref setup.GUIDRef) (T, int64, error)
}, path string, to *ref,
) *int64 {
	if to == nil || r.found.Stopped() {
		return nil
	}
	_, id, err := kind.Resolve(r.ctx, r.tx, path, to)
	r.found.Add(err)
	to.Name = ""
	return &id
}

// resolveReferences checks the references of an opportunity to the configuration, and returns the
// int64 id of its recruiting process, or nil without one.
func resolveReferences(ctx context.Context, tx pgx.Tx, o *opportunity) (process *int64, err error) {
	r := &resolver{ctx: ctx, tx: tx}
	resolve(r, configuration.LegalEntity, "company", o.GetCompany())
	for i, location := range o.GetLocations() {
		resolve(r, configuration.PhysicalLocation, fmt.Sprintf("locations[%d]", i), location)
	}
	process = resolve(r, configuration.RecruitingProcess, "recruiting_process", o.GetRecruitingProcess())
	for i, board := range o.GetJobBoards() {
		resolve(r, configuration.JobBoard, fmt.Sprintf("job_boards[%d]", i), &ref{Id: board.GetId()})
	}
	for i, c := range o.GetSkillCriteria() {
		resolve(r, configuration.ProficiencyLevel, fmt.Sprintf("skill_criteria[%d].proficiency_level", i), c.GetProficiencyLevel())
	}
	for i, c := range o.GetEducationCriteria() {
		resolve(r, configuration.FieldOfStudy, fmt.Sprintf("education_criteria[%d].field_of_study", i), c.GetFieldOfStudy())
	}
	for i, c := range o.GetBehaviorCriteria() {
		resolve(r, configuration.Behavior, fmt.Sprintf("behavior_criteria[%d].behavior", i), c.GetBehavior())
	}
	for i, c := range o.GetMotivationCriteria() {
		resolve(r, configuration.Motivation, fmt.Sprintf("motivation_criteria[%d].motivation", i), c.GetMotivation())
	}
	for i, group := range o.GetOrgUnitGroups() {
		for j, unit := range group.GetOrgUnits() {
			resolve(r, configuration.OrgUnit, fmt.Sprintf("org_unit_groups[%d].org_units[%d]", i, j), unit)
		}
	}
	return process, r.found.Err()
}

// setBoards publishes an opportunity to the readers that each of its job boards has.
func setBoards(ctx context.Context, tx pgx.Tx, o *opportunity) error {
	for i, board := range o.GetJobBoards() {
		stored, _, err := configuration.JobBoard.ResolveGUID(ctx, tx, fmt.Sprintf("job_boards[%d]", i), &ref{Id: board.GetId()})
		if err != nil {
			return err
		}
		board.IsPublishedInternal, board.IsPublishedExternal = stored.GetIsInternal(), stored.GetIsExternal()
	}
	return nil
}

// nextNumber returns the next requisition number of the tenant.
func nextNumber(ctx context.Context, tx pgx.Tx) (string, error) {
	var number int64
	err := tx.QueryRow(ctx, `INSERT INTO requisition_counter AS c (tenant_id, number) VALUES ($1, 1)
		ON CONFLICT (tenant_id) DO UPDATE SET number = c.number + 1 RETURNING number`, tenant.Of(ctx)).Scan(&number)
	if err != nil {
		return "", fmt.Errorf("determine a requisition number: %w", err)
	}
	return fmt.Sprintf("REQ%06d", number), nil
}

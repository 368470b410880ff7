package profile

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// Administrator is the name of the access profile of the first administrator of a tenant.
const Administrator = "Administrator"

// defaultProfiles are the profiles that each tenant gets. A permission or a profile that is added here reaches
// all tenants when auth starts. Permissions that an administrator removed stay removed. The first two profiles
// are immutable.
var defaultProfiles = []Profile{
	{Name: "Super", Rows: rowvisibility.All, Grants: []string{"*"}},
	{Name: Administrator, Rows: rowvisibility.All, Grants: []string{"*"}},
	{Name: "Manager", Rows: rowvisibility.Group, Grants: []string{
		"commons.*.read", "timekeeping.*.read", "scheduling.*.read", "platform.*.read", "scheduling.schedule.write", "scheduling.day_lock.write",
		"scheduling.time_off.write", "scheduling.employee_time_off.write", "timekeeping.timecard_approval.write", "timekeeping.timecard_signoff.write",
		"timekeeping.employee_timecard.write", "recruiting.*.read",
	}},
	{Name: "Scheduler", Rows: rowvisibility.All, Grants: []string{
		"commons.person.read", "timekeeping.employment_term.read", "timekeeping.employment_term_assignment.read", "scheduling.*",
	}},
	{Name: "Timekeeper", Rows: rowvisibility.All, Grants: []string{"commons.person.read", "commons.device_group.read", "timekeeping.*", "udm.*", "scheduling.*.read"}},
	{Name: "Payroll", Rows: rowvisibility.All, Grants: []string{
		"commons.person.read", "commons.wage_work_rule.read", "timekeeping.*.read", "scheduling.*.read", "timekeeping.payroll.*", "timekeeping.payroll_earning.*",
	}},
	{Name: "Integration", Rows: rowvisibility.All, Grants: []string{"commons.*", "timekeeping.*", "udm.*", "scheduling.*", "recruiting.*"}},
	{Name: "Recruiter", Rows: rowvisibility.All, Grants: []string{"commons.person.read", "recruiting.*"}},
	// Clients of devices, which see no persons by their rows: their operations are about the employees of their group.
	{Name: "Device", Rows: rowvisibility.Own, Grants: []string{"udm.device_punch.write", "udm.device_employee.read", "udm.device_state.write"}},
	{Name: "Employee", Rows: rowvisibility.Own, Grants: []string{
		"commons.person.read", "timekeeping.employment_term_assignment.read", "scheduling.schedule.read", "scheduling.employee_time_off.read",
		"scheduling.employee_time_off.write", "timekeeping.employee_timecard.read", "timekeeping.employee_timecard.write",
	}},
}

// builtInProfiles are the names of the default profiles.
var builtInProfiles = func() (names []string) {
	for _, p := range defaultProfiles {
		names = append(names, p.Name)
	}
	return names
}()

const (
	// lockTenant serializes the processes that apply the default profiles of a tenant.
	lockTenant = `SELECT FROM tenant WHERE id = $1 FOR UPDATE`

	// createDefault creates a default profile that the tenant never had.
	createDefault = `INSERT INTO access_profile (tenant_id, name, permissions, row_scope) SELECT $1::bigint, $2::text, $3::text[], $4::text
WHERE NOT EXISTS (SELECT FROM default_access_profile WHERE tenant_id = $1 AND name = $2)
ON CONFLICT DO NOTHING`

	// extendDefault adds the permissions that the tenant was never given.
	extendDefault = `UPDATE access_profile AS p SET version = p.version + 1,
    permissions = p.permissions || ARRAY(SELECT added FROM unnest($3::text[]) AS added WHERE added <> ALL (given.permissions || p.permissions))
FROM default_access_profile AS given
WHERE p.tenant_id = $1 AND p.name = $2 AND given.tenant_id = p.tenant_id AND given.name = p.name
    AND NOT (given.permissions || p.permissions) @> $3::text[]`

	// recordDefault records the given permissions, so that they are not added again.
	recordDefault = `INSERT INTO default_access_profile AS given (tenant_id, name, permissions) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id, name) DO UPDATE SET permissions = ARRAY(SELECT DISTINCT unnest(given.permissions || EXCLUDED.permissions))
WHERE NOT given.permissions @> EXCLUDED.permissions`
)

// ApplyDefaults gives a tenant the default profiles that it never had, and adds the permissions that are new in
// the other ones. It returns the names of the profiles that changed.
func ApplyDefaults(ctx context.Context, tx pgx.Tx) ([]string, error) {
	return applyProfiles(ctx, tx, defaultProfiles)
}

func applyProfiles(ctx context.Context, tx pgx.Tx, profiles []Profile) ([]string, error) {
	tenantID := tenant.Of(ctx)
	if _, err := tx.Exec(ctx, lockTenant, tenantID); err != nil {
		return nil, fmt.Errorf("lock tenant: %w", err)
	}
	var changed []string
	for _, p := range profiles {
		created, err := tx.Exec(ctx, createDefault, tenantID, p.Name, p.Grants, string(p.Rows))
		if err != nil {
			return nil, fmt.Errorf("create access profile %s: %w", p.Name, err)
		}
		extended, err := tx.Exec(ctx, extendDefault, tenantID, p.Name, p.Grants)
		if err != nil {
			return nil, fmt.Errorf("extend access profile %s: %w", p.Name, err)
		}
		if _, err := tx.Exec(ctx, recordDefault, tenantID, p.Name, p.Grants); err != nil {
			return nil, fmt.Errorf("record access profile %s: %w", p.Name, err)
		}
		if created.RowsAffected()+extended.RowsAffected() > 0 {
			changed = append(changed, p.Name)
		}
	}
	return changed, nil
}

-- +goose Up
-- The profile Payroll runs payroll and imports earnings. Its grant payroll.*, and payroll.*.read of Manager,
-- matched no permission.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION add_access_profiles(tenant bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO access_profile (tenant_id, name, permissions, row_scope) VALUES
        (tenant, 'Super',       '{*}', 'all'),
        (tenant, 'Manager',     '{commons.*.read, timekeeping.*.read, scheduling.*.read, platform.*.read, scheduling.schedule.write, scheduling.day_lock.write, scheduling.time_off.write, scheduling.employee_time_off.write, timekeeping.timecard_approval.write, timekeeping.timecard_signoff.write, timekeeping.employee_timecard.write}', 'group'),
        (tenant, 'Scheduler',   '{commons.person.read, timekeeping.employment_term.read, timekeeping.employment_term_assignment.read, scheduling.*}', 'all'),
        (tenant, 'Timekeeper',  '{commons.person.read, timekeeping.*, scheduling.*.read}', 'all'),
        (tenant, 'Payroll',     '{commons.person.read, commons.wage_work_rule.read, timekeeping.*.read, scheduling.*.read, timekeeping.payroll.*, timekeeping.payroll_earning.*}', 'all'),
        (tenant, 'Integration', '{commons.*, timekeeping.*, scheduling.*}', 'all'),
        (tenant, 'Employee',    '{commons.person.read, timekeeping.employment_term_assignment.read, scheduling.schedule.read, scheduling.employee_time_off.read, scheduling.employee_time_off.write, timekeeping.employee_timecard.read, timekeeping.employee_timecard.write}', 'own')
    ON CONFLICT DO NOTHING
$$;
-- +goose StatementEnd

-- Existing tenants, unless they changed the profile.
-- +goose StatementBegin
DO $$
DECLARE t bigint;
        tenants bigint[];
BEGIN
    PERFORM set_config('rotaloom.tenant_id', '*', true);
    tenants := ARRAY(SELECT id FROM tenant);
    FOREACH t IN ARRAY tenants LOOP
        PERFORM set_config('rotaloom.tenant_id', t::text, true);
        UPDATE access_profile SET permissions = '{commons.person.read, commons.wage_work_rule.read, timekeeping.*.read, scheduling.*.read, timekeeping.payroll.*, timekeeping.payroll_earning.*}'
        WHERE tenant_id = t AND name = 'Payroll' AND permissions = '{commons.person.read, commons.wage_work_rule.read, timekeeping.*.read, scheduling.*.read, payroll.*}';
        UPDATE access_profile SET permissions = '{commons.*.read, timekeeping.*.read, scheduling.*.read, platform.*.read, scheduling.schedule.write, scheduling.day_lock.write, scheduling.time_off.write, scheduling.employee_time_off.write, timekeeping.timecard_approval.write, timekeeping.timecard_signoff.write, timekeeping.employee_timecard.write}'
        WHERE tenant_id = t AND name = 'Manager' AND permissions = '{commons.*.read, timekeeping.*.read, scheduling.*.read, payroll.*.read, platform.*.read, scheduling.schedule.write, scheduling.day_lock.write, scheduling.time_off.write, scheduling.employee_time_off.write, timekeeping.timecard_approval.write, timekeeping.timecard_signoff.write, timekeeping.employee_timecard.write}';
    END LOOP;
    PERFORM set_config('rotaloom.tenant_id', '', true);
END $$;
-- +goose StatementEnd

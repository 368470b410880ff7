-- +goose Up
-- Managers decide on time off, and all users with a schedule may request it.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION add_access_profiles(tenant bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO access_profile (tenant_id, name, permissions, row_scope) VALUES
        (tenant, 'Super',       '{*}', 'all'),
        (tenant, 'Manager',     '{commons.*.read, timekeeping.*.read, scheduling.*.read, payroll.*.read, platform.*.read, scheduling.schedule.write, scheduling.day_lock.write, scheduling.time_off.write, scheduling.employee_time_off.write}', 'group'),
        (tenant, 'Scheduler',   '{commons.person.read, timekeeping.employment_term.read, timekeeping.employment_term_assignment.read, scheduling.*}', 'all'),
        (tenant, 'Timekeeper',  '{commons.person.read, timekeeping.*, scheduling.*.read}', 'all'),
        (tenant, 'Payroll',     '{commons.person.read, timekeeping.*.read, scheduling.*.read, payroll.*}', 'all'),
        (tenant, 'Integration', '{commons.*, timekeeping.*, scheduling.*}', 'all'),
        (tenant, 'Employee',    '{commons.person.read, timekeeping.employment_term_assignment.read, scheduling.schedule.read, scheduling.employee_time_off.read, scheduling.employee_time_off.write}', 'own')
    ON CONFLICT DO NOTHING
$$;
-- +goose StatementEnd

-- Existing tenants, unless they changed the profiles.
-- +goose StatementBegin
DO $$
DECLARE t bigint;
        tenants bigint[];
BEGIN
    PERFORM set_config('rotaloom.tenant_id', '*', true);
    tenants := ARRAY(SELECT id FROM tenant);
    FOREACH t IN ARRAY tenants LOOP
        PERFORM set_config('rotaloom.tenant_id', t::text, true);
        UPDATE access_profile SET permissions = permissions || '{scheduling.time_off.write, scheduling.employee_time_off.write}'
        WHERE tenant_id = t AND name = 'Manager' AND permissions = '{commons.*.read, timekeeping.*.read, scheduling.*.read, payroll.*.read, platform.*.read, scheduling.schedule.write, scheduling.day_lock.write}';
        UPDATE access_profile SET permissions = permissions || '{scheduling.employee_time_off.read, scheduling.employee_time_off.write}'
        WHERE tenant_id = t AND name = 'Employee' AND permissions = '{commons.person.read, timekeeping.employment_term_assignment.read, scheduling.schedule.read}';
    END LOOP;
    PERFORM set_config('rotaloom.tenant_id', '', true);
END $$;
-- +goose StatementEnd

-- +goose Up
-- The permissions that the service gave to the default access profiles of a tenant. The profiles are in
-- internal/profile/defaults.go. The service adds permissions that are missing here, so it does not restore
-- permissions that an administrator removed.
CREATE TABLE default_access_profile (
    tenant_id   bigint NOT NULL REFERENCES tenant (id),
    name        text   NOT NULL,
    permissions text[] NOT NULL,
    PRIMARY KEY (tenant_id, name)
);
SELECT isolate_tenants('default_access_profile', 'text');

-- Existing tenants have been given the permissions of the migrations up to this one.
-- +goose StatementBegin
DO $$
DECLARE t bigint;
        tenants bigint[];
BEGIN
    PERFORM set_config('rotaloom.tenant_id', '*', true);
    tenants := ARRAY(SELECT id FROM tenant);
    FOREACH t IN ARRAY tenants LOOP
        PERFORM set_config('rotaloom.tenant_id', t::text, true);
        INSERT INTO default_access_profile (tenant_id, name, permissions) VALUES
            (t, 'Super', '{*}'),
            (t, 'Administrator', '{*}'),
            (t, 'Manager', '{commons.*.read, timekeeping.*.read, scheduling.*.read, platform.*.read, scheduling.schedule.write, scheduling.day_lock.write, scheduling.time_off.write, scheduling.employee_time_off.write, timekeeping.timecard_approval.write, timekeeping.timecard_signoff.write, timekeeping.employee_timecard.write}'),
            (t, 'Scheduler', '{commons.person.read, timekeeping.employment_term.read, timekeeping.employment_term_assignment.read, scheduling.*}'),
            (t, 'Timekeeper', '{commons.person.read, timekeeping.*, scheduling.*.read}'),
            (t, 'Payroll', '{commons.person.read, commons.wage_work_rule.read, timekeeping.*.read, scheduling.*.read, timekeeping.payroll.*, timekeeping.payroll_earning.*}'),
            (t, 'Integration', '{commons.*, timekeeping.*, scheduling.*}'),
            (t, 'Employee', '{commons.person.read, timekeeping.employment_term_assignment.read, scheduling.schedule.read, scheduling.employee_time_off.read, scheduling.employee_time_off.write, timekeeping.employee_timecard.read, timekeeping.employee_timecard.write}');
    END LOOP;
    PERFORM set_config('rotaloom.tenant_id', '', true);
END $$;
-- +goose StatementEnd

DROP TRIGGER tenant_access_profiles ON tenant;
DROP FUNCTION tenant_gets_access_profiles();
DROP FUNCTION add_access_profiles(bigint);

-- +goose Up
-- The function access profiles that every tenant has. A tenant may change them
-- and add others. Patterns also cover permissions that come later.

-- +goose StatementBegin
CREATE FUNCTION add_access_profiles(tenant bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO access_profile (tenant_id, name, permissions) VALUES
        (tenant, 'Super',       '{*}'),
        (tenant, 'Manager',     '{*.read, scheduling.schedule.write, scheduling.day_lock.write}'),
        (tenant, 'Scheduler',   '{commons.person.read, timekeeping.employment_term.read, timekeeping.employment_term_assignment.read, scheduling.*}'),
        (tenant, 'Timekeeper',  '{commons.person.read, timekeeping.*, scheduling.*.read}'),
        (tenant, 'Payroll',     '{commons.person.read, timekeeping.*.read, scheduling.*.read, payroll.*}'),
        (tenant, 'Integration', '{commons.*, timekeeping.*, scheduling.*}'),
        -- Permissions concern everybody's data, and an employee may see only
        -- their own.
        (tenant, 'Employee',    '{}')
    ON CONFLICT DO NOTHING
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION tenant_gets_access_profiles() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM add_access_profiles(NEW.id);
    RETURN NULL;
END $$;
-- +goose StatementEnd

CREATE TRIGGER tenant_access_profiles AFTER INSERT ON tenant
    FOR EACH ROW EXECUTE FUNCTION tenant_gets_access_profiles();

-- Existing tenants. Row-level security shows only one tenant at a time to a writer.
-- +goose StatementBegin
DO $$
DECLARE t bigint;
        tenants bigint[];
BEGIN
    PERFORM set_config('rotaloom.tenant_id', '*', true);
    tenants := ARRAY(SELECT id FROM tenant);
    FOREACH t IN ARRAY tenants LOOP
        PERFORM set_config('rotaloom.tenant_id', t::text, true);
        PERFORM add_access_profiles(t);
    END LOOP;
    PERFORM set_config('rotaloom.tenant_id', '', true);
END $$;
-- +goose StatementEnd

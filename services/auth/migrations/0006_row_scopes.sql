-- +goose Up
-- The employees whom users with a function access profile may see: all, group (their employee group and
-- themselves) or own. Profiles that tenants created keep their scope.
ALTER TABLE access_profile
    ADD COLUMN row_scope text NOT NULL DEFAULT 'all' CHECK (row_scope IN ('own', 'group', 'all'));

-- The permissions of tokens that the client obtains, for any user: permissions ("*" matches any text) or
-- names of groups of permissions. If it is empty, all permissions.
ALTER TABLE client ADD COLUMN scopes text[] NOT NULL DEFAULT '{}';
-- The scope that a login requested. A refresh cannot extend it.
ALTER TABLE token_family ADD COLUMN scope text NOT NULL DEFAULT '';
CREATE INDEX app_user_access_profile ON app_user (tenant_id, access_profile);
CREATE INDEX token_family_client ON token_family (tenant_id, client_id);

-- New tenants get the profiles with their scopes. Managers may read data about work, but not about logins.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION add_access_profiles(tenant bigint) RETURNS void LANGUAGE sql AS $$
    INSERT INTO access_profile (tenant_id, name, permissions, row_scope) VALUES
        (tenant, 'Super',       '{*}', 'all'),
        (tenant, 'Manager',     '{commons.*.read, timekeeping.*.read, scheduling.*.read, payroll.*.read, platform.*.read, scheduling.schedule.write, scheduling.day_lock.write}', 'group'),
        (tenant, 'Scheduler',   '{commons.person.read, timekeeping.employment_term.read, timekeeping.employment_term_assignment.read, scheduling.*}', 'all'),
        (tenant, 'Timekeeper',  '{commons.person.read, timekeeping.*, scheduling.*.read}', 'all'),
        (tenant, 'Payroll',     '{commons.person.read, timekeeping.*.read, scheduling.*.read, payroll.*}', 'all'),
        (tenant, 'Integration', '{commons.*, timekeeping.*, scheduling.*}', 'all'),
        (tenant, 'Employee',    '{commons.person.read, timekeeping.employment_term_assignment.read, scheduling.schedule.read}', 'own')
    ON CONFLICT DO NOTHING
$$;
-- +goose StatementEnd

-- Existing tenants, unless they changed the profiles. Row-level security shows only one tenant at a time to a
-- writer.
-- +goose StatementBegin
DO $$
DECLARE t bigint;
        tenants bigint[];
BEGIN
    PERFORM set_config('rotaloom.tenant_id', '*', true);
    tenants := ARRAY(SELECT id FROM tenant);
    FOREACH t IN ARRAY tenants LOOP
        PERFORM set_config('rotaloom.tenant_id', t::text, true);
        UPDATE access_profile SET row_scope = 'group',
            permissions = '{commons.*.read, timekeeping.*.read, scheduling.*.read, payroll.*.read, platform.*.read, scheduling.schedule.write, scheduling.day_lock.write}'
        WHERE tenant_id = t AND name = 'Manager' AND permissions = '{*.read, scheduling.schedule.write, scheduling.day_lock.write}';
        UPDATE access_profile SET row_scope = 'own',
            permissions = '{commons.person.read, timekeeping.employment_term_assignment.read, scheduling.schedule.read}'
        WHERE tenant_id = t AND name = 'Employee' AND permissions = '{}';
    END LOOP;
    PERFORM set_config('rotaloom.tenant_id', '', true);
END $$;
-- +goose StatementEnd

-- +goose Up
-- The versions of what is kept of persons are in replica_head.
ALTER TABLE person ALTER COLUMN version SET DEFAULT 0;
-- Those who keep copies are told which tenants there are. The tenant's own policy
-- must then say nothing, rather than fail.
-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['employment_term', 'membership_head'] LOOP
        EXECUTE format('DROP POLICY tenant ON %I', name);
        EXECUTE format($p$CREATE POLICY tenant ON %I USING
            (tenant_id = (SELECT nullif(nullif(current_setting('rotaloom.tenant_id', true), ''), '*')::bigint))$p$, name);
        EXECUTE format($p$CREATE POLICY sweep ON %I FOR SELECT USING
            (current_setting('rotaloom.tenant_id', true) = '*')$p$, name);
    END LOOP;
END $$;
-- +goose StatementEnd

-- +goose Up
-- The versions of copied persons are in replica_head.
ALTER TABLE person ALTER COLUMN version SET DEFAULT 0;
-- Services with copies are told which tenants exist. The policy for a single tenant must then return no rows
-- instead of failing.
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

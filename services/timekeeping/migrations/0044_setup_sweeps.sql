-- +goose Up
-- The comparison of copies reads the tenants that have pay codes and work rules, in a session of all tenants. The
-- policy of one tenant failed there.
ALTER POLICY tenant ON pay_code USING (tenant_id = nullif(nullif(current_setting('rotaloom.tenant_id', true), ''), '*')::bigint);
ALTER POLICY tenant ON work_rule USING (tenant_id = nullif(nullif(current_setting('rotaloom.tenant_id', true), ''), '*')::bigint);
CREATE POLICY sweep ON pay_code FOR SELECT USING (current_setting('rotaloom.tenant_id', true) = '*');
CREATE POLICY sweep ON work_rule FOR SELECT USING (current_setting('rotaloom.tenant_id', true) = '*');

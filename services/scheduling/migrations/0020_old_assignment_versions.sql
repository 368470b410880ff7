-- +goose Up
-- Retention deletes old versions of assignments of all tenants.
ALTER POLICY tenant ON pattern_assignment USING
    (tenant_id = nullif(nullif(current_setting('rotaloom.tenant_id', true), ''), '*')::bigint);
CREATE POLICY sweep_read ON pattern_assignment FOR SELECT USING (current_setting('rotaloom.tenant_id', true) = '*');
CREATE POLICY sweep ON pattern_assignment FOR DELETE USING (current_setting('rotaloom.tenant_id', true) = '*');
CREATE INDEX pattern_assignment_past ON pattern_assignment (believed_until) WHERE believed_until < 'infinity';

-- +goose Up
-- Other services ask for the state of the histories of all tenants, to find missing events. The policy for a
-- single tenant must then return no rows instead of failing.
DROP POLICY tenant ON leave_edit_head;
CREATE POLICY tenant ON leave_edit_head USING
    (tenant_id = (SELECT nullif(nullif(current_setting('rotaloom.tenant_id', true), ''), '*')::bigint));
CREATE POLICY sweep ON leave_edit_head FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

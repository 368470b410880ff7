-- +goose Up
-- The version of an employee's leave that timekeeping sent last: older states change nothing.
CREATE TABLE leave_head (
    tenant_id   bigint NOT NULL,
    employee_id bigint NOT NULL,
    version     bigint NOT NULL,
    PRIMARY KEY (tenant_id, employee_id)
);
ALTER TABLE leave_head ENABLE ROW LEVEL SECURITY;
ALTER TABLE leave_head FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON leave_head USING (tenant_id = nullif(current_setting('rotaloom.tenant_id', true), '')::bigint);

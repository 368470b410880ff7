-- +goose Up
-- The version of an employee's leave that timekeeping sent last: older states change nothing.
CREATE TABLE leave_head (
    tenant_id   bigint NOT NULL,
    employee_id bigint NOT NULL,
    version     bigint NOT NULL,
    PRIMARY KEY (tenant_id, employee_id)
);
SELECT isolate_tenants('leave_head', 'inline_strict');

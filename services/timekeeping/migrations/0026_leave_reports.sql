-- +goose Up
-- Versions of the leave of an employee. They increase also across a restore of this database.
CREATE SEQUENCE leave_version;

-- Employees whose leave changed, with the version of the change, until scheduling has their leave. The row is
-- written with the change, and deleted when scheduling has confirmed the version.
CREATE TABLE leave_report (
    tenant_id   bigint      NOT NULL,
    employee_id bigint      NOT NULL,
    version     bigint      NOT NULL,
    changed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, employee_id)
);
CREATE INDEX leave_report_changed ON leave_report (changed_at);
SELECT isolate_tenants('leave_report');
CREATE POLICY sweep ON leave_report FOR SELECT USING (current_setting('rotaloom.tenant_id', true) = '*');

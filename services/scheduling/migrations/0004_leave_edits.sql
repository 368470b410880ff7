-- +goose Up
-- Leave edits, from timekeeping's events. The head has the version of an employee's history: only the next
-- step is applied.
CREATE TABLE leave_edit_head (
    tenant_id   bigint NOT NULL,
    employee_id bigint NOT NULL,
    version     bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, employee_id)
);
CREATE TABLE leave_edit (
    tenant_id   bigint NOT NULL,
    id          bigint NOT NULL,
    employee_id bigint NOT NULL,
    -- The first and the last day of the leave edit.
    from_day    date   NOT NULL,
    to_day      date   NOT NULL CHECK (to_day >= from_day),
    version     bigint NOT NULL,
    -- rotaloom.scheduling.v1.LeaveEdit without id, employee and version.
    body        bytea  NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX leave_edit_employee ON leave_edit (tenant_id, employee_id, from_day);

SELECT isolate_tenants(isolated, 'subselect_strict')
FROM unnest(ARRAY['leave_edit_head', 'leave_edit']::regclass[]) AS isolated;

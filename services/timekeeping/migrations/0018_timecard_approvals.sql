-- +goose Up
-- Approvals of days of timecards. A change of the days deletes them.
CREATE TABLE timecard_approval (
    tenant_id   bigint      NOT NULL,
    employee_id bigint      NOT NULL,
    -- EMPLOYEE or MANAGER.
    approver    text        NOT NULL,
    -- Both included.
    from_day    date        NOT NULL,
    to_day      date        NOT NULL CHECK (to_day >= from_day),
    approved_by text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, employee_id, approver, from_day)
);

SELECT isolate_tenants('timecard_approval', 'subselect_strict');

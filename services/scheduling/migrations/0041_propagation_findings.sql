-- +goose Up
-- The employees whose schedules changed.
ALTER TABLE propagation ADD COLUMN employees_changed bigint NOT NULL DEFAULT 0;
-- The assignments of patterns that the change created, changed or removed.
ALTER TABLE propagation ADD COLUMN assignment_ids bigint[] NOT NULL DEFAULT '{}';
-- The user whose request caused the change: the person, if the user has one, and the user name.
ALTER TABLE propagation ADD COLUMN planner_id bigint;
ALTER TABLE propagation ADD COLUMN planner_name text;

-- A reason why a propagation skipped days of employees, or a warning about their schedules. Employees with the
-- same days share a row. An employee has at most one row for each code and assignment.
CREATE TABLE propagation_finding (
    tenant_id      bigint   NOT NULL,
    propagation_id bigint   NOT NULL,
    id             bigint   NOT NULL GENERATED ALWAYS AS IDENTITY,
    -- A reason of skipped days, or the code of a warning.
    code           text     NOT NULL,
    -- The assignment whose shifts cause the warning.
    assignment_id  bigint,
    -- Ascending.
    employee_ids   bigint[] NOT NULL,
    -- Ranges of days: the first days, and the days after the last days.
    from_dates     date[]   NOT NULL,
    to_dates       date[]   NOT NULL,
    -- The warning on the first day in words.
    description    text     NOT NULL,
    PRIMARY KEY (tenant_id, propagation_id, id),
    FOREIGN KEY (tenant_id, propagation_id) REFERENCES propagation (tenant_id, id) ON DELETE CASCADE
);
SELECT isolate_tenants('propagation_finding', 'subselect_strict');

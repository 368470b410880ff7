-- +goose Up
-- The rule sets of employees, by ranges of days. In a context, an employee has one on a day.
CREATE TABLE schedule_rule_set_assignment (
    tenant_id            bigint NOT NULL,
    employee_id          bigint NOT NULL,
    -- -1 DEFAULT, -2 SCHEDULE_GENERATION_OVERRIDE.
    context_id           bigint NOT NULL CHECK (context_id IN (-1, -2)),
    from_date            date   NOT NULL,
    to_date              date   NOT NULL CHECK (to_date > from_date),
    schedule_rule_set_id bigint NOT NULL,
    PRIMARY KEY (tenant_id, employee_id, context_id, from_date),
    FOREIGN KEY (tenant_id, schedule_rule_set_id) REFERENCES schedule_rule_set (tenant_id, id)
);
CREATE INDEX schedule_rule_set_assignment_set ON schedule_rule_set_assignment (tenant_id, schedule_rule_set_id);

-- Counts the changes of an employee's assignments. A change locks the row first.
CREATE TABLE schedule_rule_set_assignment_head (
    tenant_id   bigint NOT NULL,
    employee_id bigint NOT NULL,
    version     bigint NOT NULL,
    PRIMARY KEY (tenant_id, employee_id)
);

SELECT isolate_tenants('schedule_rule_set_assignment', 'inline_strict');
SELECT isolate_tenants('schedule_rule_set_assignment_head', 'inline_strict');

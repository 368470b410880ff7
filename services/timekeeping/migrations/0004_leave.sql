-- +goose Up
-- Leave: leave cases, and their leave edits.

-- Data of persons that leave needs. Persons without it are deleted here, because commons is asked for missing
-- persons.
TRUNCATE person;
ALTER TABLE person
    ADD COLUMN full_name text NOT NULL DEFAULT '',
    -- IANA name.
    ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC',
    ADD COLUMN hire_date date;

CREATE SEQUENCE leave_case_id;
CREATE TABLE leave_case (
    tenant_id   bigint      NOT NULL,
    id          bigint      NOT NULL,
    employee_id bigint      NOT NULL,
    case_code   text        NOT NULL,
    -- The code of another system.
    code        text,
    status_id   bigint      NOT NULL,
    -- First day, and the day after the last.
    from_date   date        NOT NULL,
    to_date     date        NOT NULL CHECK (to_date > from_date),
    -- rotaloom.timekeeping.v1.LeaveCase without id and employee.
    body        bytea       NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX leave_case_case_code ON leave_case (tenant_id, lower(case_code));
CREATE UNIQUE INDEX leave_case_code ON leave_case (tenant_id, code);
CREATE INDEX leave_case_employee ON leave_case (tenant_id, employee_id, from_date);

-- The version of all leave edits of an employee. A change of leave edits locks this row, after the case.
CREATE TABLE leave_edit_head (
    tenant_id   bigint NOT NULL,
    employee_id bigint NOT NULL,
    version     bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, employee_id)
);

CREATE SEQUENCE leave_edit_id MAXVALUE 4503599627370495;
CREATE TABLE leave_edit (
    tenant_id     bigint NOT NULL,
    id            bigint NOT NULL,
    leave_case_id bigint NOT NULL,
    employee_id   bigint NOT NULL,
    -- The first and the last day of the leave edit. It belongs to the first.
    from_day      date   NOT NULL,
    to_day        date   NOT NULL CHECK (to_day >= from_day),
    version       bigint NOT NULL,
    -- rotaloom.timekeeping.v1.LeaveEdit without id and without the values of the case.
    body          bytea  NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, leave_case_id) REFERENCES leave_case (tenant_id, id)
);
CREATE INDEX leave_edit_case ON leave_edit (tenant_id, leave_case_id, from_day);
CREATE INDEX leave_edit_employee ON leave_edit (tenant_id, employee_id, from_day);

SELECT isolate_tenants(isolated, 'subselect_strict')
FROM unnest(ARRAY['leave_case', 'leave_edit_head', 'leave_edit']::regclass[]) AS isolated;

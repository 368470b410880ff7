-- +goose Up
-- Copies of other domains' data in scheduling, from their events. A row is replaced only by a row with a
-- larger version, so that repeated and reordered events are harmless.

-- Persons, from commons.
CREATE TABLE employee (
    tenant_id     bigint NOT NULL,
    id            bigint NOT NULL,
    person_number text   NOT NULL,
    full_name     text   NOT NULL,
    -- IANA name.
    time_zone     text   NOT NULL,
    version       bigint NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX employee_person_number ON employee (tenant_id, person_number);

-- Employment terms, from timekeeping.
CREATE TABLE employment_term (
    tenant_id          bigint  NOT NULL,
    id                 bigint  NOT NULL,
    name               text    NOT NULL,
    allows_inheritance boolean NOT NULL,
    deleted            boolean NOT NULL,
    version            bigint  NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX employment_term_name ON employment_term (tenant_id, lower(name));

-- The employees on each term, from timekeeping. The head has the version of all rows of an employee.
CREATE TABLE membership_head (
    tenant_id   bigint NOT NULL,
    employee_id bigint NOT NULL,
    version     bigint NOT NULL,
    PRIMARY KEY (tenant_id, employee_id)
);
CREATE TABLE membership (
    tenant_id          bigint NOT NULL,
    employee_id        bigint NOT NULL,
    employment_term_id bigint NOT NULL,
    -- First day, and the day after the last.
    from_date          date   NOT NULL,
    to_date            date   NOT NULL CHECK (to_date > from_date),
    PRIMARY KEY (tenant_id, employee_id, from_date)
);
CREATE INDEX membership_term ON membership (tenant_id, employment_term_id, employee_id);

SELECT isolate_tenants(isolated, 'inline_strict')
FROM unnest(ARRAY['employee', 'employment_term', 'membership_head', 'membership']::regclass[]) AS isolated;

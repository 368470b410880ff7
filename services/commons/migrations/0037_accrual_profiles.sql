-- +goose Up
-- The accrual profiles of persons from day to day. The body of a person keeps the last one, for programs of the
-- release before. A body with another one was written by such a program, and takes precedence.
CREATE TABLE accrual_profile_assignment (
    tenant_id            bigint NOT NULL,
    person_id            bigint NOT NULL,
    -- The first day, and the day after the last.
    from_date            date   NOT NULL,
    to_date              date   NOT NULL CHECK (to_date > from_date),
    accrual_profile_name text   NOT NULL,
    PRIMARY KEY (tenant_id, person_id, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);
ALTER TABLE accrual_profile_assignment ADD CONSTRAINT accrual_profile_assignment_overlap
    EXCLUDE USING gist (tenant_id WITH =, person_id WITH =, daterange(from_date, to_date) WITH &&);

SELECT isolate_tenants('accrual_profile_assignment', 'inline_strict');

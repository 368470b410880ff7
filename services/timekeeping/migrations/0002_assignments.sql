-- +goose Up
-- The employment terms of persons, by ranges of days.

-- For the exclusion constraint below. The extension is trusted: the owner of the database may create it.
CREATE EXTENSION IF NOT EXISTS btree_gist;

-- Copies of persons, from commons. A row is replaced only by a row with a larger version, so that repeated
-- and reordered events are harmless.
CREATE TABLE person (
    tenant_id     bigint NOT NULL,
    id            bigint NOT NULL,
    person_number text   NOT NULL,
    version       bigint NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX person_number ON person (tenant_id, person_number);

-- The version of all assignments of a person. A change of assignments locks this row first.
CREATE TABLE membership_head (
    tenant_id bigint NOT NULL,
    person_id bigint NOT NULL,
    version   bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, person_id)
);

-- A person has at most one term on a day.
CREATE TABLE membership (
    tenant_id          bigint NOT NULL,
    person_id          bigint NOT NULL,
    employment_term_id bigint NOT NULL,
    -- First day, and the day after the last.
    from_date          date   NOT NULL,
    to_date            date   NOT NULL CHECK (to_date > from_date),
    PRIMARY KEY (tenant_id, person_id, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES membership_head (tenant_id, person_id),
    CONSTRAINT membership_employment_term
        FOREIGN KEY (tenant_id, employment_term_id) REFERENCES employment_term (tenant_id, id),
    CONSTRAINT membership_overlap
        EXCLUDE USING gist (tenant_id WITH =, person_id WITH =, daterange(from_date, to_date) WITH &&)
);
CREATE INDEX membership_term ON membership (tenant_id, employment_term_id, person_id);

SELECT isolate_tenants(isolated, 'inline_strict')
FROM unnest(ARRAY['person', 'membership_head', 'membership']::regclass[]) AS isolated;

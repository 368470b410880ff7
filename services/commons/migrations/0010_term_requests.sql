-- +goose Up
-- Changes of employment terms that callers requested with persons, until timekeeping confirms them. A row is
-- one element of a request.
CREATE TABLE term_request (
    tenant_id          bigint      NOT NULL,
    person_id          bigint      NOT NULL,
    -- The version of the person that the request made.
    number             bigint      NOT NULL,
    position           int         NOT NULL,
    -- NULL removes the person from any term on the days.
    employment_term_id bigint,
    -- First day, and the day after the last; both NULL if the request has no days.
    from_date          date,
    to_date            date CHECK (to_date > from_date),
    -- The assignment that began on this day is deleted.
    original_from_date date,
    created_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, person_id, number, position),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);

SELECT isolate_tenants('term_request', 'subselect_strict');

-- Terms are named in any case of letters.
ALTER TABLE employment_term ADD COLUMN name_key text COLLATE "C" NOT NULL GENERATED ALWAYS AS (lower(name)) STORED;
CREATE INDEX employment_term_name_key ON employment_term (tenant_id, name_key) WHERE NOT deleted;

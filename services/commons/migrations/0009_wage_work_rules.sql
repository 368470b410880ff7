-- +goose Up
-- The wage and the work rule of a person in a job: at most one row for a job and a day.
CREATE TABLE wage_work_rule (
    tenant_id         bigint NOT NULL,
    person_id         bigint NOT NULL,
    -- The path of a location on the day.
    organization_path text   NOT NULL,
    -- First day, and the day after the last.
    from_date         date   NOT NULL,
    to_date           date   NOT NULL CHECK (to_date > from_date),
    -- NULL or empty: the usual wage or work rule applies.
    hourly_rate       double precision,
    work_rule_name    text   NOT NULL,
    PRIMARY KEY (tenant_id, person_id, organization_path, from_date),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE,
    CONSTRAINT wage_work_rule_overlap EXCLUDE USING gist
        (tenant_id WITH =, person_id WITH =, organization_path WITH =, daterange(from_date, to_date) WITH &&)
);

SELECT isolate_tenants('wage_work_rule', 'subselect_strict');

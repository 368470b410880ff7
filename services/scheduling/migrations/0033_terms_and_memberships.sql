-- +goose Up
-- Scheduling owns employment terms and their members. Before, it had copies from timekeeping: a database with
-- such copies was written by an older build, and has less data than the owner had.
-- +goose StatementBegin
DO $$
BEGIN
    ALTER TABLE employment_term NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE employee NO FORCE ROW LEVEL SECURITY;
    IF EXISTS (SELECT FROM employment_term) OR EXISTS (SELECT FROM employee) THEN
        RAISE EXCEPTION 'an older build of Rotaloom wrote this data, and this build cannot read it: start with an empty database or state folder, and move the data through the API as CHANGELOG.md says';
    END IF;
    ALTER TABLE employee FORCE ROW LEVEL SECURITY;
END $$;
-- +goose StatementEnd

-- For the exclusion constraint below. The extension is trusted: the owner of the database may create it.
CREATE EXTENSION IF NOT EXISTS btree_gist;

DROP TABLE membership_shortage;
ALTER TABLE propagation DROP COLUMN expected_term_ids, DROP COLUMN expected_members;

DROP TABLE employment_term;
CREATE TABLE employment_term (
    tenant_id          bigint      NOT NULL,
    id                 bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name               text        NOT NULL,
    persistent_id      text,
    allows_inheritance boolean     NOT NULL,
    -- Increases with every change; the version of the term's events.
    version            bigint      NOT NULL DEFAULT 1,
    -- rotaloom.scheduling.v1.EmploymentTerm without id.
    body               bytea       NOT NULL,
    created_at         timestamptz NOT NULL DEFAULT now(),
    updated_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX employment_term_name ON employment_term (tenant_id, lower(name));
CREATE UNIQUE INDEX employment_term_persistent_id ON employment_term (tenant_id, persistent_id);

-- Counts the changes of the memberships of an employee, and has the number of the newest applied term request
-- of commons: each request is applied once.
CREATE TABLE membership_head (
    tenant_id    bigint NOT NULL,
    employee_id  bigint NOT NULL,
    version      bigint NOT NULL DEFAULT 0,
    term_request bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, employee_id)
);

-- +goose StatementBegin
-- Other services ask for the tenants. The policy for a single tenant must then return no rows instead of
-- failing.
DO $$
DECLARE name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['employment_term', 'membership_head'] LOOP
        PERFORM isolate_tenants(name::regclass, 'inline');
        EXECUTE format($p$CREATE POLICY sweep ON %I FOR SELECT USING
            (current_setting('rotaloom.tenant_id', true) = '*')$p$, name);
    END LOOP;
END $$;
-- +goose StatementEnd

-- A person has at most one term on a day.
ALTER TABLE membership
    ADD CONSTRAINT membership_employment_term
        FOREIGN KEY (tenant_id, employment_term_id) REFERENCES employment_term (tenant_id, id),
    ADD CONSTRAINT membership_overlap
        EXCLUDE USING gist (tenant_id WITH =, employee_id WITH =, daterange(from_date, to_date) WITH &&);

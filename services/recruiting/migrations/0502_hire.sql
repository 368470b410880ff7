-- +goose Up
-- The hires of applicants. A hire that is STARTED creates a person in commons, and is then DONE, or FAILED after a refusal.
CREATE TABLE hire (
    tenant_id      bigint      NOT NULL,
    -- The key of the person in commons.
    id             uuid        NOT NULL,
    number         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    application_id uuid        NOT NULL,
    opportunity_id uuid        NOT NULL,
    state          text        NOT NULL DEFAULT 'STARTED' CHECK (state IN ('STARTED', 'DONE', 'FAILED')),
    started_at     timestamptz NOT NULL DEFAULT now(),
    person_number  text        NOT NULL,
    person_id      bigint,
    -- The code of the refusal.
    failure        text        NOT NULL DEFAULT '',
    -- rotaloom.recruiting.v1.HireApplicantRequest with all defaults. Empty when the hire is not STARTED any longer.
    request        bytea       NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, application_id) REFERENCES application (tenant_id, id)
);
CREATE UNIQUE INDEX hire_once ON hire (tenant_id, application_id) WHERE state <> 'FAILED';
CREATE INDEX hire_opportunity ON hire (tenant_id, opportunity_id) WHERE state = 'STARTED';
CREATE INDEX hire_started ON hire (started_at) WHERE state = 'STARTED';
SELECT isolate_tenants('hire', 'all');

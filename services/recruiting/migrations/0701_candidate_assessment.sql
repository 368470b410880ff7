-- +goose Up
-- The tests and surveys of candidates.
CREATE TABLE candidate_assessment (
    tenant_id    bigint      NOT NULL,
    id           uuid        NOT NULL,
    -- NULL only in the transaction that inserts the row.
    changed      bigint,
    created_at   timestamptz NOT NULL DEFAULT now(),
    deleted      boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.CandidateAssessment without the other columns.
    body         bytea       NOT NULL,
    number       bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    candidate_id uuid        NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, candidate_id) REFERENCES candidate (tenant_id, id)
);
CREATE UNIQUE INDEX candidate_assessment_changed ON candidate_assessment (tenant_id, changed);
CREATE INDEX candidate_assessment_candidate ON candidate_assessment (tenant_id, candidate_id, number);
SELECT isolate_tenants('candidate_assessment');

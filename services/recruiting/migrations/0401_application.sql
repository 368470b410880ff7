-- +goose Up
-- The applications of candidates for opportunities.
CREATE TABLE application (
    tenant_id  bigint      NOT NULL,
    id         uuid        NOT NULL,
    -- NULL only in the transaction that inserts the row.
    changed    bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted    boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.Application without the properties of other objects.
    body       bytea       NOT NULL,
    candidate_id   uuid NOT NULL,
    opportunity_id uuid NOT NULL,
    -- The GUID of the job board that the candidate comes from.
    job_board_id   uuid,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, candidate_id) REFERENCES candidate (tenant_id, id),
    FOREIGN KEY (tenant_id, opportunity_id) REFERENCES opportunity (tenant_id, id)
);
CREATE UNIQUE INDEX application_changed ON application (tenant_id, changed);
CREATE UNIQUE INDEX application_once ON application (tenant_id, candidate_id, opportunity_id);
CREATE INDEX application_opportunity ON application (tenant_id, opportunity_id);
SELECT isolate_tenants('application');

-- The comments on applications.
CREATE TABLE application_comment (
    tenant_id  bigint      NOT NULL,
    id         uuid        NOT NULL,
    changed    bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted    boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.ApplicationComment without the other columns.
    body       bytea       NOT NULL,
    application_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, application_id) REFERENCES application (tenant_id, id)
);
CREATE UNIQUE INDEX application_comment_changed ON application_comment (tenant_id, changed);
CREATE INDEX application_comment_application ON application_comment (tenant_id, application_id, changed);
SELECT isolate_tenants('application_comment');

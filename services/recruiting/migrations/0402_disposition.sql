-- +goose Up
-- The moves of applications along their recruiting processes.
CREATE TABLE disposition_event (
    tenant_id  bigint      NOT NULL,
    id         uuid        NOT NULL,
    -- NULL only in the transaction that inserts the row.
    changed    bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted    boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.DispositionEvent without the other columns, and without names.
    body       bytea       NOT NULL,
    application_id uuid NOT NULL,
    opportunity_id uuid NOT NULL,
    -- The GUID of the job board of the application.
    job_board_id   uuid,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, application_id) REFERENCES application (tenant_id, id)
);
CREATE UNIQUE INDEX disposition_event_changed ON disposition_event (tenant_id, changed);
CREATE INDEX disposition_event_application ON disposition_event (tenant_id, application_id, changed);
CREATE INDEX disposition_event_board ON disposition_event (tenant_id, job_board_id, changed) WHERE job_board_id IS NOT NULL;
SELECT isolate_tenants('disposition_event');

-- What job boards look for.
ALTER TABLE opportunity
    ADD COLUMN is_published  boolean NOT NULL DEFAULT false,
    ADD COLUMN job_board_ids uuid[]  NOT NULL DEFAULT '{}';

-- +goose Up
-- The files of candidates and of applications.
CREATE TABLE document (
    tenant_id      bigint      NOT NULL,
    id             uuid        NOT NULL DEFAULT gen_random_uuid(),
    -- The order of the upload.
    number         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    candidate_id   uuid        NOT NULL,
    -- NULL for a document of the candidate itself.
    application_id uuid,
    document_type  text        NOT NULL,
    file_name      text        NOT NULL,
    content_type   text        NOT NULL,
    size           integer     NOT NULL,
    created_at     timestamptz NOT NULL DEFAULT now(),
    -- A person of commons.
    creator_id     bigint,
    content        bytea       NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, candidate_id) REFERENCES candidate (tenant_id, id)
);
-- Files are compressed already, and read in pieces.
ALTER TABLE document ALTER COLUMN content SET STORAGE EXTERNAL;
CREATE INDEX document_owner ON document (tenant_id, candidate_id, application_id, number);
SELECT isolate_tenants('document');

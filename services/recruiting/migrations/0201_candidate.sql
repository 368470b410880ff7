-- +goose Up
-- The people that apply for opportunities.
CREATE TABLE candidate (
    tenant_id  bigint      NOT NULL,
    id         uuid        NOT NULL,
    -- NULL only in the transaction that inserts the row.
    changed    bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    deleted    boolean     NOT NULL DEFAULT false,
    -- rotaloom.recruiting.v1.Candidate without properties that follow from others.
    body       bytea       NOT NULL,
    -- The e-mail address in lower case. NULL when the candidate is erased.
    email      text,
    -- Persons of commons: the candidate, if they are an employee, and the creator, if they are one.
    person_id  bigint,
    creator_id bigint,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX candidate_changed ON candidate (tenant_id, changed);
CREATE UNIQUE INDEX candidate_email ON candidate (tenant_id, email);
CREATE UNIQUE INDEX candidate_person ON candidate (tenant_id, person_id);
CREATE INDEX candidate_creator ON candidate (tenant_id, creator_id);
SELECT isolate_tenants('candidate');

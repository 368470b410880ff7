-- +goose Up
-- The sources that applicants name.
CREATE TABLE applicant_source (
    tenant_id  bigint      NOT NULL,
    -- Callers see the guid only.
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    guid       uuid        NOT NULL DEFAULT gen_random_uuid(),
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.recruiting.v1.ConfigurationItem without the other columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX applicant_source_name ON applicant_source (tenant_id, lower(name));
CREATE UNIQUE INDEX applicant_source_guid ON applicant_source (tenant_id, guid);
SELECT isolate_tenants('applicant_source');

-- +goose Up
CREATE TABLE target_threshold (
    tenant_id  bigint      NOT NULL,
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.platform.v1.TargetThreshold without id and version.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX target_threshold_name ON target_threshold (tenant_id, lower(name));
SELECT isolate_tenants('target_threshold', 'inline_strict');

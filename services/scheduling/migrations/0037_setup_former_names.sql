-- +goose Up
-- The former names of objects that schedules, patterns and templates refer to. Responses show the present name.
CREATE TABLE setup_former_name (
    tenant_id    bigint      NOT NULL,
    kind         text        NOT NULL,
    resource_id  bigint      NOT NULL,
    name_key     text        NOT NULL,
    present_name text        NOT NULL,
    changed_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, kind, resource_id, name_key)
);
CREATE INDEX setup_former_name_key ON setup_former_name (tenant_id, kind, name_key);
SELECT isolate_tenants('setup_former_name', 'inline_strict');

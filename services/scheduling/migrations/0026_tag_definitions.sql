-- +goose Up
CREATE TABLE tag_definition (
    tenant_id  bigint      NOT NULL,
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.scheduling.v1.TagDefinition without id and version.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX tag_definition_name ON tag_definition (tenant_id, lower(name));

SELECT isolate_tenants('tag_definition', 'inline_strict');

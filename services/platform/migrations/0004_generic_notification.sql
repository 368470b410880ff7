-- +goose Up
-- Templates of notifications of tenants.
CREATE TABLE generic_notification (
    tenant_id  bigint      NOT NULL,
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.platform.v1.GenericNotification without id and version.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX generic_notification_name ON generic_notification (tenant_id, lower(name));
SELECT isolate_tenants('generic_notification', 'inline_strict');

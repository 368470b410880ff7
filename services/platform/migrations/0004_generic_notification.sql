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
ALTER TABLE generic_notification ENABLE ROW LEVEL SECURITY;
ALTER TABLE generic_notification FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON generic_notification USING
    (tenant_id = nullif(current_setting('rotaloom.tenant_id', true), '')::bigint);

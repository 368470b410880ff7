-- +goose Up
-- Device groups: the time clocks that the same employees use.

CREATE TABLE device_group (
    tenant_id  bigint      NOT NULL,
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.udm.v1.DeviceGroup without the values in columns.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX device_group_name ON device_group (tenant_id, lower(name));
SELECT isolate_tenants('device_group', 'text');
-- The comparison of copies reads the tenants that have device groups.
CREATE POLICY sweep ON device_group FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

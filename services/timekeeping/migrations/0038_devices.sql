-- +goose Up
-- Devices: time clocks with credentials of their own, and the punches that they sent.

CREATE TABLE device (
    tenant_id        bigint      NOT NULL,
    id               bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name             text        NOT NULL,
    version          bigint      NOT NULL DEFAULT 1,
    -- rotaloom.udm.v1.Device without the values in columns.
    body             bytea       NOT NULL,
    created_at       timestamptz NOT NULL DEFAULT now(),
    updated_at       timestamptz NOT NULL DEFAULT now(),
    -- The client of auth that the device logs in with. NULL without credentials.
    client_id        text,
    -- The time of the last request of the device.
    seen_at          timestamptz,
    software_version text        NOT NULL DEFAULT '',
    -- The correction of the device's clock at its last report, in seconds. NULL before the first report.
    clock_offset     bigint,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX device_name ON device (tenant_id, lower(name));
CREATE UNIQUE INDEX device_client ON device (tenant_id, client_id);

-- The punches that devices sent, by the numbers that the devices gave them. A punch of the timecard may change
-- later; these rows keep what the device recorded.
CREATE TABLE device_punch (
    tenant_id     bigint      NOT NULL,
    device_id     bigint      NOT NULL,
    sequence      bigint      NOT NULL,
    -- The time that the device's clock showed.
    recorded_at   timestamptz NOT NULL,
    -- The correction that the request needed, in seconds.
    clock_offset  bigint      NOT NULL,
    -- Either the badge or the person number is empty.
    badge_number  text        NOT NULL,
    person_number text        NOT NULL,
    -- 0 without a direction, 1 in, 2 out.
    direction     smallint    NOT NULL,
    employee_id   bigint      NOT NULL,
    -- The id of the punch in the timecard, which may have been deleted since.
    punch_id      bigint      NOT NULL,
    received_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, device_id, sequence),
    CONSTRAINT device_punch_device FOREIGN KEY (tenant_id, device_id) REFERENCES device (tenant_id, id)
);

SELECT isolate_tenants(isolated, 'inline_strict')
FROM unnest(ARRAY['device', 'device_punch']::regclass[]) AS isolated;

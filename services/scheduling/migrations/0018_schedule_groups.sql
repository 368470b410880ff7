-- +goose Up
CREATE TABLE schedule_group (
    tenant_id  bigint      NOT NULL,
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.scheduling.v1.ScheduleGroup without id and version.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX schedule_group_name ON schedule_group (tenant_id, lower(name));

SELECT isolate_tenants('schedule_group', 'inline_strict');

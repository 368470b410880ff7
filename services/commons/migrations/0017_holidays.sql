-- +goose Up
-- Holidays of tenants, with the years for which they are selected.

CREATE TABLE holiday (
    tenant_id  bigint      NOT NULL,
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.commons.v1.Holiday without id, version and displayName.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX holiday_name ON holiday (tenant_id, lower(name));

SELECT isolate_tenants('holiday', 'text');
-- The comparison of holiday copies reads the tenants that have holidays.
CREATE POLICY sweep ON holiday FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

-- +goose Up
-- The present names of pay codes and work rules: a copy of data of timekeeping.
CREATE TABLE setup_name (
    tenant_id   bigint NOT NULL,
    kind        text   NOT NULL,
    resource_id bigint NOT NULL,
    name        text   NOT NULL,
    PRIMARY KEY (tenant_id, kind, resource_id)
);
CREATE INDEX setup_name_key ON setup_name (tenant_id, kind, lower(name));
SELECT isolate_tenants('setup_name', 'inline_strict');

-- Whether another object got the name. References by the name alone do not mean this object any longer.
ALTER TABLE setup_former_name ADD COLUMN released boolean NOT NULL DEFAULT false;

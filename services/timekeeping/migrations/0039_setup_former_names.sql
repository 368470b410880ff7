-- +goose Up
-- The former names of pay rules, work rules, accrual profiles and pay codes. Data that names an object by a former
-- name still belongs to it, until another object gets the name.
CREATE TABLE setup_former_name (
    tenant_id   bigint      NOT NULL,
    -- The table of the object.
    kind        text        NOT NULL,
    name        text        NOT NULL,
    name_key    text        NOT NULL GENERATED ALWAYS AS (lower(name)) STORED,
    resource_id bigint      NOT NULL,
    -- Whether commons has written the new name into the data of persons.
    followed    boolean     NOT NULL,
    changed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, kind, name_key)
);
CREATE INDEX setup_former_name_resource ON setup_former_name (tenant_id, kind, resource_id);
CREATE INDEX setup_former_name_waiting ON setup_former_name (changed_at) WHERE NOT followed;
SELECT isolate_tenants('setup_former_name', 'text');
CREATE POLICY sweep ON setup_former_name FOR SELECT USING (current_setting('rotaloom.tenant_id', true) = '*');

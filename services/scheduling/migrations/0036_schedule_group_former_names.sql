-- +goose Up
-- The former names of schedule groups, until commons has written the new names to the persons.
CREATE TABLE schedule_group_former_name (
    tenant_id   bigint      NOT NULL,
    name        text        NOT NULL,
    name_key    text        NOT NULL GENERATED ALWAYS AS (lower(name)) STORED,
    group_id    bigint      NOT NULL,
    changed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, name_key),
    FOREIGN KEY (tenant_id, group_id) REFERENCES schedule_group (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX schedule_group_former_name_group ON schedule_group_former_name (tenant_id, group_id);
CREATE INDEX schedule_group_former_name_changed ON schedule_group_former_name (changed_at);
SELECT isolate_tenants('schedule_group_former_name', 'text');
CREATE POLICY sweep ON schedule_group_former_name FOR SELECT USING (current_setting('rotaloom.tenant_id', true) = '*');

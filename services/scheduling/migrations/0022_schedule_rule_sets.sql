-- +goose Up
CREATE TABLE schedule_rule_set (
    tenant_id  bigint      NOT NULL,
    id         bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name       text        NOT NULL,
    version    bigint      NOT NULL DEFAULT 1,
    -- rotaloom.scheduling.v1.ScheduleRuleSet without id and version. Rules, severities and types of
    -- parameters have their ids only.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX schedule_rule_set_name ON schedule_rule_set (tenant_id, lower(name));

SELECT isolate_tenants('schedule_rule_set', 'inline_strict');

-- +goose Up
-- The topics that other services must publish again for a tenant. See rotaloom.commons.v1.ProjectionWanted
-- for the topics.
CREATE TABLE projection_want (
    tenant_id    bigint      NOT NULL,
    topic        text        NOT NULL,
    requested_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, topic)
);
-- Tenants from before the copies.
ALTER TABLE person NO FORCE ROW LEVEL SECURITY;
INSERT INTO projection_want (tenant_id, topic)
SELECT tenant_id, topic FROM (SELECT DISTINCT tenant_id FROM person) AS t,
    unnest(ARRAY['employment_terms', 'memberships', 'schedule_patterns', 'schedules']) AS topic;
ALTER TABLE person FORCE ROW LEVEL SECURITY;
SELECT isolate_tenants('projection_want', 'text');
CREATE POLICY sweep ON projection_want FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

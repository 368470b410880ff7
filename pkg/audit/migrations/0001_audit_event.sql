-- +goose Up
-- The audit log. The row of a write is inserted in the same transaction as the write.
CREATE TABLE audit_event (
    tenant_id   bigint      NOT NULL,
    id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    occurred_at timestamptz NOT NULL,
    -- The user, or '' if a service worked for itself or the login failed.
    user_name   text        NOT NULL,
    person_id   bigint      NOT NULL,
    client_id   text        NOT NULL,
    -- The service that made the call, or '' if it came from outside.
    service     text        NOT NULL,
    operation   text        NOT NULL,
    objects     text[]      NOT NULL,
    request_id  text        NOT NULL,
    -- 'ok', or the reason of the refusal.
    outcome     text        NOT NULL,
    CONSTRAINT audit_event_pk PRIMARY KEY (tenant_id, occurred_at, id)
);
-- Rows are inserted in the order of time, so a BRIN index is small and cheap for writers.
CREATE INDEX audit_event_age ON audit_event USING brin (occurred_at) WITH (pages_per_range = 32, autosummarize = on);

-- Retention deletes the rows of all tenants together. Rows are never updated.
ALTER TABLE audit_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_event FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_read ON audit_event FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) IN ('*', tenant_id::text));
CREATE POLICY tenant_write ON audit_event FOR INSERT WITH CHECK
    (tenant_id::text = current_setting('rotaloom.tenant_id', true));
CREATE POLICY sweep ON audit_event FOR DELETE USING
    (current_setting('rotaloom.tenant_id', true) = '*');

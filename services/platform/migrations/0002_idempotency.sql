-- +goose Up
-- The responses to requests with an Idempotency-Key.
CREATE TABLE idempotency_key (
    tenant_id        bigint      NOT NULL,
    -- SHA-256 of client, user, operation and key. The key itself is not stored, because the fingerprint could
    -- be compared with guessed requests by means of it.
    id               bytea       NOT NULL,
    client_id        text        NOT NULL,
    -- HMAC-SHA256 of the request, with the Idempotency-Key.
    fingerprint      bytea       NOT NULL,
    -- The claim that may settle the key.
    attempt          bigint      NOT NULL,
    -- After this time, a request without a response counts as failed.
    lease_until      timestamptz NOT NULL,
    expires_at       timestamptz NOT NULL,
    -- NULL while the request runs.
    status           smallint,
    content_location text        NOT NULL DEFAULT '',
    body             bytea       NOT NULL DEFAULT '',
    body_omitted     boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX idempotency_key_client ON idempotency_key (tenant_id, client_id, expires_at);
CREATE INDEX idempotency_key_age ON idempotency_key (expires_at);

SELECT isolate_tenants('idempotency_key', 'text');
-- Expired keys of all tenants are removed together.
CREATE POLICY sweep_read ON idempotency_key FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');
CREATE POLICY sweep ON idempotency_key FOR DELETE USING
    (current_setting('rotaloom.tenant_id', true) = '*');

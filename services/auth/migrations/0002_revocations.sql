-- +goose Up
-- Tokens that were revoked before they expired.

-- The expiry of the last access token of the family that was issued so far. Families from before this
-- migration get a time that is certainly later.
ALTER TABLE token_family ADD COLUMN access_until timestamptz NOT NULL DEFAULT now() + interval '45 days';
ALTER TABLE token_family ALTER COLUMN access_until DROP DEFAULT;

CREATE TABLE revocation (
    tenant_id  bigint      NOT NULL REFERENCES tenant (id),
    -- 'j.' and the id of an access token, or 's.' and the id of a family.
    key        text        NOT NULL COLLATE "C",
    -- The transaction that wrote the row. Readers continue from the oldest transaction that was in progress
    -- when they read, so they miss no late commit.
    version    bigint      NOT NULL DEFAULT pg_current_xact_id()::text::bigint,
    created_at timestamptz NOT NULL,
    -- The expiry of the last affected token.
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key)
);
CREATE INDEX revocation_version ON revocation (version, key);
CREATE INDEX revocation_age ON revocation (expires_at);

-- Every process reads the revocations of all tenants.
SELECT isolate_tenants('revocation', 'text');
CREATE POLICY publish ON revocation FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');
CREATE POLICY sweep ON revocation FOR DELETE USING
    (current_setting('rotaloom.tenant_id', true) = '*');

-- +goose Up
-- Whose tokens a tenant accepts beside its own.
CREATE TABLE identity_provider (
    tenant_id     bigint      NOT NULL REFERENCES tenant (id),
    id            bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name          text        NOT NULL,
    issuer        text        NOT NULL,
    audience      text        NOT NULL,
    -- The claim that names the user, and whether it holds the USERNAME or the
    -- PERSON_NUMBER.
    user_claim    text        NOT NULL,
    user_match    text        NOT NULL,
    -- The claim that chooses the access profile, or '', and the profiles of its
    -- values, in the order in which they count.
    profile_claim text        NOT NULL,
    profile_values text[]     NOT NULL,
    profile_names text[]      NOT NULL,
    algorithms    text[]      NOT NULL,
    clock_skew    interval    NOT NULL,
    enabled       boolean     NOT NULL,
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
-- A token belongs to one tenant, and nothing but these two say to which.
CREATE UNIQUE INDEX identity_provider_issuer ON identity_provider (issuer, audience);

ALTER TABLE identity_provider ENABLE ROW LEVEL SECURITY;
ALTER TABLE identity_provider FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON identity_provider USING
    (tenant_id::text = current_setting('rotaloom.tenant_id', true));
-- Nobody knows the tenant of a token before its provider is found.
CREATE POLICY lookup ON identity_provider FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

-- How providers may name persons. It is not unique here: commons keeps it so,
-- and a number that two users have for a moment names nobody.
ALTER TABLE app_user ADD COLUMN person_number text NOT NULL DEFAULT '';
CREATE INDEX app_user_person_number ON app_user (tenant_id, person_number) WHERE person_number <> '';

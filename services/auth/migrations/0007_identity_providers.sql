-- +goose Up
-- Issuers of tokens that a tenant accepts beside its own.
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
    -- The claim that selects the access profile, or '', and the profiles of its values in the order of
    -- precedence.
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
-- A token belongs to one tenant, which only its issuer and audience identify.
CREATE UNIQUE INDEX identity_provider_issuer ON identity_provider (issuer, audience);

SELECT isolate_tenants('identity_provider', 'text');
-- The tenant of a token is unknown before its provider is found.
CREATE POLICY lookup ON identity_provider FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

-- Providers may name persons by it. It is not unique here, because commons keeps it unique; a number that two
-- users temporarily share matches no user.
ALTER TABLE app_user ADD COLUMN person_number text NOT NULL DEFAULT '';
CREATE INDEX app_user_person_number ON app_user (tenant_id, person_number) WHERE person_number <> '';

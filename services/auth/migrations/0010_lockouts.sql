-- +goose Up
-- Times when persons may not log in. Commons announces them in advance, and they take effect when they begin.

ALTER TABLE app_user ADD COLUMN locked_out boolean NOT NULL DEFAULT false;

CREATE TABLE account_lockout (
    tenant_id bigint         NOT NULL REFERENCES tenant (id),
    person_id bigint         NOT NULL,
    -- The version of the person at commons. An older version changes nothing.
    version   bigint         NOT NULL,
    periods   tstzmultirange NOT NULL,
    -- When locked_out must be updated; NULL for never.
    next_at   timestamptz,
    PRIMARY KEY (tenant_id, person_id)
);
CREATE INDEX account_lockout_next ON account_lockout (next_at) WHERE next_at IS NOT NULL;

-- The sweep reads due rows of all tenants.
SELECT isolate_tenants('account_lockout', 'text');
CREATE POLICY sweep ON account_lockout FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

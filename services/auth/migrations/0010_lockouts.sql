-- +goose Up
-- When persons may not log in: commons says it ahead, and it takes effect when
-- the time comes.

ALTER TABLE app_user ADD COLUMN locked_out boolean NOT NULL DEFAULT false;

CREATE TABLE account_lockout (
    tenant_id bigint         NOT NULL REFERENCES tenant (id),
    person_id bigint         NOT NULL,
    -- Of the person, at commons. An older one changes nothing.
    version   bigint         NOT NULL,
    periods   tstzmultirange NOT NULL,
    -- When locked_out has to be looked at again; NULL for never.
    next_at   timestamptz,
    PRIMARY KEY (tenant_id, person_id)
);
CREATE INDEX account_lockout_next ON account_lockout (next_at) WHERE next_at IS NOT NULL;

-- The sweep looks for what is due of all tenants.
ALTER TABLE account_lockout ENABLE ROW LEVEL SECURITY;
ALTER TABLE account_lockout FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON account_lockout USING
    (tenant_id::text = current_setting('rotaloom.tenant_id', true));
CREATE POLICY sweep ON account_lockout FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

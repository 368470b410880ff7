-- +goose Up
-- What auth is told later is told in the name of whoever asked for it.

ALTER TABLE account_intent
    ADD COLUMN initiator_user      text   NOT NULL DEFAULT '',
    ADD COLUMN initiator_person_id bigint NOT NULL DEFAULT 0,
    ADD COLUMN initiator_client    text   NOT NULL DEFAULT '',
    ADD COLUMN request_id          text   NOT NULL DEFAULT '';

-- Persons of whom auth has to be told when they may not log in.
CREATE TABLE lockout_intent (
    tenant_id           bigint      NOT NULL,
    person_id           bigint      NOT NULL,
    -- Grows with every change of the row, so that what comes while auth is told
    -- is not taken for told.
    version             bigint      NOT NULL DEFAULT 1,
    initiator_user      text        NOT NULL,
    initiator_person_id bigint      NOT NULL,
    initiator_client    text        NOT NULL,
    request_id          text        NOT NULL,
    -- When auth is told, or told again after it could not be.
    due_at              timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, person_id)
);
CREATE INDEX lockout_intent_due ON lockout_intent (due_at);

-- The worker looks for what is due of all tenants.
ALTER TABLE lockout_intent ENABLE ROW LEVEL SECURITY;
ALTER TABLE lockout_intent FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON lockout_intent USING
    (tenant_id::text = current_setting('rotaloom.tenant_id', true));
CREATE POLICY worker ON lockout_intent FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

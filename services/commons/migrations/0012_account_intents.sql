-- +goose Up
-- Later calls to auth are made in the name of the user who made the request.

ALTER TABLE account_intent
    ADD COLUMN initiator_user      text   NOT NULL DEFAULT '',
    ADD COLUMN initiator_person_id bigint NOT NULL DEFAULT 0,
    ADD COLUMN initiator_client    text   NOT NULL DEFAULT '',
    ADD COLUMN request_id          text   NOT NULL DEFAULT '';

-- Persons whose lockout times must be sent to auth.
CREATE TABLE lockout_intent (
    tenant_id           bigint      NOT NULL,
    person_id           bigint      NOT NULL,
    -- Increases with every change of the row, so that a change during a call to auth is not lost.
    version             bigint      NOT NULL DEFAULT 1,
    initiator_user      text        NOT NULL,
    initiator_person_id bigint      NOT NULL,
    initiator_client    text        NOT NULL,
    request_id          text        NOT NULL,
    -- When auth is called, or called again after a failure.
    due_at              timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, person_id)
);
CREATE INDEX lockout_intent_due ON lockout_intent (due_at);

-- The worker reads due rows of all tenants.
SELECT isolate_tenants('lockout_intent', 'text');
CREATE POLICY worker ON lockout_intent FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

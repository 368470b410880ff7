-- +goose Up
-- Programs that are told what people are.
CREATE TABLE webhook (
    tenant_id       bigint      NOT NULL,
    id              bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name            text        NOT NULL,
    version         bigint      NOT NULL DEFAULT 1,
    -- rotaloom.platform.v1.Webhook without id, version and secret.
    body            bytea       NOT NULL,
    -- What requests are signed with; '' until it is made.
    secret          text        NOT NULL DEFAULT '',
    -- The one before, and until when requests are signed with it as well.
    former_secret   text        NOT NULL DEFAULT '',
    former_until    timestamptz NOT NULL DEFAULT '-infinity',
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX webhook_name ON webhook (tenant_id, lower(name));

-- The outbox of messages to people and webhooks, and their log.
CREATE TABLE notification_delivery (
    tenant_id         bigint      NOT NULL,
    id                bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    -- What the recipient knows the delivery by.
    delivery_id       uuid        NOT NULL,
    message_id        uuid        NOT NULL,
    notification_id   bigint      NOT NULL,
    notification_name text        NOT NULL,
    channel           text        NOT NULL CHECK (channel IN ('EMAIL', 'WEBHOOK')),
    state             text        NOT NULL CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED', 'SUPPRESSED')),
    -- 0 and '' where it is for no person.
    person_id         bigint      NOT NULL,
    person_number     text        NOT NULL,
    -- 0 for an e-mail.
    webhook_id        bigint      NOT NULL,
    -- An e-mail address, or the URL that the webhook had at the time.
    address           text        NOT NULL,
    -- rotaloom.platform.v1.DeliveryContent.
    content           bytea       NOT NULL,
    -- What tells repetitions from other messages; '' when none are suppressed.
    fingerprint       bytea       NOT NULL,
    -- Attempts that were begun since it was stored or replayed.
    attempts          integer     NOT NULL DEFAULT 0,
    -- While an attempt runs: when it is taken for dead.
    next_attempt_at   timestamptz NOT NULL,
    give_up_at        timestamptz NOT NULL,
    error             text        NOT NULL DEFAULT '',
    created_at        timestamptz NOT NULL,
    settled_at        timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX notification_delivery_due ON notification_delivery (tenant_id, next_attempt_at) WHERE state = 'PENDING';
CREATE INDEX notification_delivery_message ON notification_delivery (tenant_id, message_id);
CREATE INDEX notification_delivery_settled ON notification_delivery (settled_at) WHERE settled_at IS NOT NULL;

CREATE TABLE notification_attempt (
    tenant_id   bigint      NOT NULL,
    delivery_id bigint      NOT NULL,
    number      integer     NOT NULL,
    started_at  timestamptz NOT NULL,
    ended_at    timestamptz NOT NULL,
    delivered   boolean     NOT NULL,
    result      text        NOT NULL,
    PRIMARY KEY (tenant_id, delivery_id, number, started_at),
    FOREIGN KEY (tenant_id, delivery_id) REFERENCES notification_delivery (tenant_id, id) ON DELETE CASCADE
);

-- Who was told what of late, so that nobody is told the same twice.
CREATE TABLE notification_repetition (
    tenant_id   bigint      NOT NULL,
    fingerprint bytea       NOT NULL,
    delivery_id uuid        NOT NULL,
    until       timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, fingerprint)
);
CREATE INDEX notification_repetition_until ON notification_repetition (until);

-- +goose StatementBegin
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['webhook', 'notification_delivery', 'notification_attempt', 'notification_repetition'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        -- What sends works for all tenants.
        EXECUTE format('CREATE POLICY tenant ON %I USING (current_setting(''rotaloom.tenant_id'', true) IN (''*'', tenant_id::text))', name);
    END LOOP;
END
$$;
-- +goose StatementEnd

-- +goose Up
-- Programs that receive notifications.
CREATE TABLE webhook (
    tenant_id       bigint      NOT NULL,
    id              bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    name            text        NOT NULL,
    version         bigint      NOT NULL DEFAULT 1,
    -- rotaloom.platform.v1.Webhook without id, version and secret.
    body            bytea       NOT NULL,
    -- The secret that signs requests; '' until it is created.
    secret          text        NOT NULL DEFAULT '',
    -- The previous secret, and until when requests are also signed with it.
    former_secret   text        NOT NULL DEFAULT '',
    former_until    timestamptz NOT NULL DEFAULT '-infinity',
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX webhook_name ON webhook (tenant_id, lower(name));

-- The outbox of messages to persons and webhooks, and the log of deliveries.
CREATE TABLE notification_delivery (
    tenant_id         bigint      NOT NULL,
    id                bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    -- The id of the delivery for the recipient.
    delivery_id       uuid        NOT NULL,
    message_id        uuid        NOT NULL,
    notification_id   bigint      NOT NULL,
    notification_name text        NOT NULL,
    channel           text        NOT NULL CHECK (channel IN ('EMAIL', 'WEBHOOK')),
    state             text        NOT NULL CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED', 'SUPPRESSED')),
    -- 0 and '' if the delivery is not for a person.
    person_id         bigint      NOT NULL,
    person_number     text        NOT NULL,
    -- 0 for an e-mail.
    webhook_id        bigint      NOT NULL,
    -- An e-mail address, or the URL that the webhook had at the time.
    address           text        NOT NULL,
    -- rotaloom.platform.v1.DeliveryContent.
    content           bytea       NOT NULL,
    -- The same for identical messages; '' if none are suppressed.
    fingerprint       bytea       NOT NULL,
    -- The attempts since the delivery was stored or replayed.
    attempts          integer     NOT NULL DEFAULT 0,
    -- During an attempt: when the attempt counts as failed.
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

-- Recently sent messages by recipient, so that identical messages are suppressed.
CREATE TABLE notification_repetition (
    tenant_id   bigint      NOT NULL,
    fingerprint bytea       NOT NULL,
    delivery_id uuid        NOT NULL,
    until       timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, fingerprint)
);
CREATE INDEX notification_repetition_until ON notification_repetition (until);

-- Senders work for all tenants.
SELECT isolate_tenants(isolated, 'all')
FROM unnest(ARRAY['webhook', 'notification_delivery', 'notification_attempt', 'notification_repetition']::regclass[]) AS isolated;

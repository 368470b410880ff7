-- +goose Up

-- The events of committed transactions. Rows stay for a while after they were
-- sent, in case the broker loses them, and are then deleted.
CREATE TABLE outbox (
  tenant_id   bigint NOT NULL,
  id          bigint GENERATED ALWAYS AS IDENTITY,
  event_id    uuid NOT NULL DEFAULT gen_random_uuid(),
  stream      text NOT NULL,
  subject     text NOT NULL,
  event       text NOT NULL,
  payload     bytea NOT NULL,
  request_id  text NOT NULL DEFAULT '',
  traceparent text NOT NULL DEFAULT '',
  created_at  timestamptz NOT NULL DEFAULT now(),
  sent_at     timestamptz,
  CONSTRAINT outbox_pk PRIMARY KEY (tenant_id, id)
) WITH (
  -- Every row is updated once and deleted: clean up by their number, however
  -- large the table is.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000
);
CREATE INDEX outbox_unsent ON outbox (id) WHERE sent_at IS NULL;
CREATE INDEX outbox_sent ON outbox (sent_at) WHERE sent_at IS NOT NULL;

SELECT isolate_tenants('outbox', 'all');

-- The state of each stream that the relay last read. From it, the relay detects that the broker lost
-- messages. The table has no data of tenants.
CREATE TABLE outbox_stream (
  stream        text PRIMARY KEY,
  created_at    timestamptz NOT NULL,
  last_sequence bigint NOT NULL
);

-- Messages that consumers of this service gave up, until they are replayed.
CREATE TABLE dead_letter (
  tenant_id    bigint NOT NULL,
  id           bigint GENERATED ALWAYS AS IDENTITY,
  consumer     text NOT NULL,
  event_id     text NOT NULL,
  subject      text NOT NULL,
  event        text NOT NULL,
  payload      bytea NOT NULL,
  request_id   text NOT NULL,
  traceparent  text NOT NULL,
  delivery     integer NOT NULL,
  published_at timestamptz NOT NULL,
  reason       text NOT NULL,
  created_at   timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT dead_letter_pk PRIMARY KEY (tenant_id, id),
  CONSTRAINT dead_letter_event_key UNIQUE (tenant_id, consumer, event_id)
);
CREATE INDEX dead_letter_consumer ON dead_letter (consumer, id);

SELECT isolate_tenants('dead_letter', 'all');

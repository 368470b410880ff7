-- +goose Up

-- For messages that were delivered more than once: the number of failures, and of attempts that did not
-- finish. The broker counts deliveries only: a process that dies takes along messages that it received and
-- has not begun.
CREATE TABLE delivery_attempt (
  tenant_id  bigint      NOT NULL,
  consumer   text        NOT NULL,
  event_id   text        NOT NULL,
  failed     integer     NOT NULL DEFAULT 0,
  begun      integer     NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT delivery_attempt_pk PRIMARY KEY (tenant_id, consumer, event_id)
);
SELECT isolate_tenants('delivery_attempt', 'all');

-- When an operator requested a replay of the dead letter.
ALTER TABLE dead_letter ADD COLUMN replay_at timestamptz;
CREATE INDEX dead_letter_replay ON dead_letter (id) WHERE replay_at IS NOT NULL;

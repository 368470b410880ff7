-- +goose Up

-- How often messages have failed that came more than once, and how often they
-- were begun without an end. The broker counts deliveries only: a process that
-- dies takes those with it that it was given and has not begun.
CREATE TABLE delivery_attempt (
  tenant_id  bigint      NOT NULL,
  consumer   text        NOT NULL,
  event_id   text        NOT NULL,
  failed     integer     NOT NULL DEFAULT 0,
  begun      integer     NOT NULL DEFAULT 0,
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT delivery_attempt_pk PRIMARY KEY (tenant_id, consumer, event_id)
);
ALTER TABLE delivery_attempt ENABLE ROW LEVEL SECURITY;
ALTER TABLE delivery_attempt FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON delivery_attempt
  USING (current_setting('rotaloom.tenant_id', true) IN ('*', tenant_id::text));

-- When an operator asked for a letter to be handled once more.
ALTER TABLE dead_letter ADD COLUMN replay_at timestamptz;
CREATE INDEX dead_letter_replay ON dead_letter (id) WHERE replay_at IS NOT NULL;

-- +goose Up

-- The states that a service must publish again for a tenant, page by page, with the start of the next page.
CREATE TABLE retelling (
  tenant_id    bigint NOT NULL,
  topic        text NOT NULL,
  after        bigint NOT NULL DEFAULT 0,
  requested_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT retelling_pk PRIMARY KEY (tenant_id, topic)
);

ALTER TABLE retelling ENABLE ROW LEVEL SECURITY;
ALTER TABLE retelling FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON retelling
  USING (current_setting('rotaloom.tenant_id', true) IN ('*', tenant_id::text));

-- +goose Up

-- What a service is to tell anew of a tenant, page by page, and from where on
-- the next page goes.
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

-- +goose Up

-- The states that a service must publish again for a tenant, page by page, with the start of the next page.
CREATE TABLE retelling (
  tenant_id    bigint NOT NULL,
  topic        text NOT NULL,
  after        bigint NOT NULL DEFAULT 0,
  requested_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT retelling_pk PRIMARY KEY (tenant_id, topic)
);

SELECT isolate_tenants('retelling', 'all');

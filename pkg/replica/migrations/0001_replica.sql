-- +goose Up

-- The keys of a topic, each with its newest version and the value that is compared with the owner. A deleted
-- key keeps its row, so that an older state cannot restore it.
CREATE TABLE replica_head (
  tenant_id bigint  NOT NULL,
  topic     text    COLLATE "C" NOT NULL,
  key       bigint  NOT NULL,
  version   bigint  NOT NULL,
  mark      bigint  NOT NULL,
  deleted   boolean NOT NULL,
  CONSTRAINT replica_head_pk PRIMARY KEY (tenant_id, topic, key)
) WITH (fillfactor = 80);

-- Keys with missing data in a copy, until the owner has published them again. The key 0 requests a comparison
-- of the whole topic.
CREATE TABLE replica_gap (
  tenant_id bigint      NOT NULL,
  topic     text        COLLATE "C" NOT NULL,
  key       bigint      NOT NULL,
  found_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When the owner is asked next, and how often it has been asked.
  due_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  asked     integer     NOT NULL DEFAULT 0,
  CONSTRAINT replica_gap_pk PRIMARY KEY (tenant_id, topic, key)
);

-- +goose StatementBegin
DO $$
DECLARE name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['replica_head', 'replica_gap'] LOOP
    PERFORM isolate_tenants(name::regclass);
    EXECUTE format($p$CREATE POLICY sweep ON %I FOR SELECT USING
      (current_setting('rotaloom.tenant_id', true) = '*')$p$, name);
  END LOOP;
END $$;
-- +goose StatementEnd

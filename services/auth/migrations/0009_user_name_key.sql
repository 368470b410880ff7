-- +goose Up
-- User names are compared without regard to case, by a column of its own:
-- row-level security keeps an index on lower(username) from being used, since
-- lower is not leakproof.
ALTER TABLE app_user ADD COLUMN username_key text NOT NULL GENERATED ALWAYS AS (lower(username)) STORED;
CREATE UNIQUE INDEX app_user_username_key ON app_user (tenant_id, username_key);
DROP INDEX app_user_username;

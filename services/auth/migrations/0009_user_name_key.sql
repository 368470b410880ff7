-- +goose Up
-- User names are compared in lower case, by a separate column: row-level security prevents the use of an
-- index on lower(username), because lower is not leakproof.
ALTER TABLE app_user ADD COLUMN username_key text NOT NULL GENERATED ALWAYS AS (lower(username)) STORED;
CREATE UNIQUE INDEX app_user_username_key ON app_user (tenant_id, username_key);
DROP INDEX app_user_username;

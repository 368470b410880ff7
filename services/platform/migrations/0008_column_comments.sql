-- +goose Up
-- Comments for columns with unclear names. docs/decisions/0101-columns-are-renamed-at-a-schema-break.md has
-- their names after the next break of the schema.
COMMENT ON COLUMN idempotency_key.sight IS 'hash of which employees the caller sees';
COMMENT ON COLUMN webhook.former_secret IS 'the secret before the last change, which signs as well for some time';

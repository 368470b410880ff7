-- +goose Up
-- What these columns hold, which their names do not say. The names that they get at the next
-- break of the schema: docs/decisions/0101-columns-are-renamed-at-a-schema-break.md.
COMMENT ON COLUMN idempotency_key.sight IS 'hash of which employees the caller sees';
COMMENT ON COLUMN webhook.former_secret IS 'the secret before the last change, which signs as well for some time';

-- +goose Up
-- Comments for columns with unclear names. docs/decisions/0101-columns-are-renamed-at-a-schema-break.md has
-- their names after the next break of the schema.
COMMENT ON COLUMN delivery_attempt.begun IS 'attempts that were started and have not ended';

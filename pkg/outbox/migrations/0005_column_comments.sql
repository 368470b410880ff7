-- +goose Up
-- What these columns hold, which their names do not say. The names that they get at the next
-- break of the schema: docs/decisions/0101-columns-are-renamed-at-a-schema-break.md.
COMMENT ON COLUMN delivery_attempt.begun IS 'attempts that were started and have not ended';

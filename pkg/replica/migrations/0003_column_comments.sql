-- +goose Up
-- Comments for columns with unclear names. docs/decisions/0101-columns-are-renamed-at-a-schema-break.md has
-- their names after the next break of the schema.
COMMENT ON COLUMN replica_head.mark IS 'the part of the state that is compared with the owner';
COMMENT ON COLUMN replica_gap.asked IS 'how often the owner was asked for the key';

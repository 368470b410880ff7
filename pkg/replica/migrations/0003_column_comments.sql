-- +goose Up
-- What these columns hold, which their names do not say. The names that they get at the next
-- break of the schema: docs/decisions/0101-columns-are-renamed-at-a-schema-break.md.
COMMENT ON COLUMN replica_head.mark IS 'the part of the state that is compared with the owner';
COMMENT ON COLUMN replica_gap.asked IS 'how often the owner was asked for the key';

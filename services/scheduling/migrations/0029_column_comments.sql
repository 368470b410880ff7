-- +goose Up
-- Comments for columns with unclear names. docs/decisions/0101-columns-are-renamed-at-a-schema-break.md has
-- their names after the next break of the schema.
COMMENT ON COLUMN propagation_batch.turn IS 'position in the queue of the tenant';
COMMENT ON COLUMN propagation_batch.part IS 'whether it was split off a batch that took too long';
COMMENT ON COLUMN propagation.skipped_cut_loose IS 'generated entries that were skipped because somebody detached them';
COMMENT ON COLUMN propagation.moved_at IS 'when a batch made progress last';
COMMENT ON COLUMN schedule_item.covers IS 'whether the pay code edit takes the shifts of its days from the schedule';
COMMENT ON COLUMN span.believed_from IS 'transaction time: when the row was committed';
COMMENT ON COLUMN span_past.believed_until IS 'transaction time: when the row was replaced';

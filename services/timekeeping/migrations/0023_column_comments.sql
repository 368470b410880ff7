-- +goose Up
-- Comments for columns with unclear names. docs/decisions/0101-columns-are-renamed-at-a-schema-break.md has
-- their names after the next break of the schema.
COMMENT ON COLUMN payroll_staging.moved_at IS 'when a batch made progress last';
COMMENT ON COLUMN timecard_signoff.through IS 'last day that is signed off';
COMMENT ON COLUMN timecard_signoff.open_from IS 'punches from this instant on belong to days after the signed ones';
COMMENT ON COLUMN signed_day.worked IS 'seconds that were worked on the day';
COMMENT ON COLUMN signed_day.week IS 'seconds of the day that count towards the overtime of the week: all but the overtime of the day';

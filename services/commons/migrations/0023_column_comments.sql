-- +goose Up
-- Comments for columns with unclear names. docs/decisions/0101-columns-are-renamed-at-a-schema-break.md has
-- their names after the next break of the schema.
COMMENT ON COLUMN hyperfind_query.home IS 'whether the usage type is home rather than regular';
COMMENT ON COLUMN job_version.first_revision IS 'whether no version of the job comes before';
COMMENT ON COLUMN location_version.first_revision IS 'whether no version of the location comes before';

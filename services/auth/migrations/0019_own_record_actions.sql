-- +goose Up
-- What users may do to their own record although it is the work of a manager. Nobody may
-- do any of it until a profile says so.
ALTER TABLE access_profile ADD COLUMN own_record_actions text[] NOT NULL DEFAULT '{}';

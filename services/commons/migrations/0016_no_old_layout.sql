-- +goose Up
-- No release wrote rows with all values in their body.
DROP TABLE old_layout;
ALTER TABLE person DROP COLUMN layout;

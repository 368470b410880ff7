-- +goose Up
-- Rows that have everything in their body were written by no release.
DROP TABLE old_layout;
ALTER TABLE person DROP COLUMN layout;

-- +goose Up
-- Previews of undos: the employees whose own patterns change.
ALTER TABLE schedule_preview ADD COLUMN employee_ids bigint[] NOT NULL DEFAULT '{}';

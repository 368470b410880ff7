-- +goose Up
-- Actions of managers that users may also take on their own record. The default is none.
ALTER TABLE access_profile ADD COLUMN own_record_actions text[] NOT NULL DEFAULT '{}';

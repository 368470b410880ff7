-- +goose Up
-- The versions of copied data are in replica_head.
DROP TABLE membership_head;
DROP TABLE leave_edit_head;
ALTER TABLE employee ALTER COLUMN version SET DEFAULT 0;
ALTER TABLE employment_term ALTER COLUMN version SET DEFAULT 0;

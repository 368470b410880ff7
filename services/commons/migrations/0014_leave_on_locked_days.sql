-- +goose Up
-- The days of the shifts that the leave replaces, without the last; NULL for all. Leave that was added after
-- days were locked does not replace shifts on them.
ALTER TABLE leave_stretch ADD COLUMN shifts_from date, ADD COLUMN shifts_to date;

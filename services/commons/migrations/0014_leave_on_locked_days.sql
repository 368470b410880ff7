-- +goose Up
-- The days of the shifts that the leave takes, without the last; NULL for all.
-- Leave that came after days were locked takes nothing from their shifts.
ALTER TABLE leave_stretch ADD COLUMN shifts_from date, ADD COLUMN shifts_to date;

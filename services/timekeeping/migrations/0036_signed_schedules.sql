-- +goose Up
-- The schedule that signed-off days were paid by, so that a later change of the schedule is paid.

ALTER TABLE signed_day
    -- rotaloom.scheduling.v1.EmployeeDays: the shifts and the pay code edits of the day. Empty if
    -- the day had none. NULL if nothing was stored.
    ADD COLUMN schedule bytea,
    -- Whether the schedule of the day changed after the sign-off.
    ADD COLUMN schedule_changed boolean NOT NULL DEFAULT false;

ALTER TABLE timecard_signoff
    -- The first day whose schedule the sign-off stored. Earlier days of a first sign-off had no pay code
    -- edits. NULL if a program before this migration signed off, which stored no schedule.
    ADD COLUMN schedule_from date,
    -- Grows with each comparison with the present schedule. Only the last sign-off of an employee counts.
    ADD COLUMN version bigint NOT NULL DEFAULT 0;

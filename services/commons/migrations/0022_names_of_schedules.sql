-- +goose Up
-- A segment is work in a job, and a part of a day that leave replaces is an interval.
ALTER TABLE pattern_segment RENAME COLUMN place TO job;
ALTER INDEX pattern_segment_place RENAME TO pattern_segment_job;
ALTER TABLE entered_shift_segment RENAME COLUMN place TO job;
ALTER INDEX entered_shift_segment_place RENAME TO entered_shift_segment_job;
ALTER TABLE leave_stretch RENAME TO leave_interval;
ALTER INDEX leave_stretch_person RENAME TO leave_interval_person;

-- +goose Up
-- Tells which of two states of an employee's schedule is the later one. A value
-- is taken while the employee is locked, so it is larger than all before.
CREATE SEQUENCE schedule_revision;

-- +goose Up
-- Orders the states of an employee's schedule. A value is drawn while the employee is locked, so it is larger
-- than all earlier values.
CREATE SEQUENCE schedule_revision;

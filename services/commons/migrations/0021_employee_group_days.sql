-- +goose Up
-- The days of a person's employee group, if they are not all days of the assignment.
ALTER TABLE person_access_assignment
    ADD COLUMN manager_employee_group_from date,
    ADD COLUMN manager_employee_group_to   date;

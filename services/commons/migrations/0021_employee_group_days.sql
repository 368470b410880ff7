-- +goose Up
-- The days on which a person's employee group is theirs, when these are not all days
-- of the assignment.
ALTER TABLE person_access_assignment
    ADD COLUMN manager_employee_group_from date,
    ADD COLUMN manager_employee_group_to   date;

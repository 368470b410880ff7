-- +goose Up
-- Employment times of persons, from commons: an employee's own patterns begin with the hire date, and have no
-- effect while the employment is terminated.
ALTER TABLE employee
    ADD COLUMN hire_date       date,
    -- For each element: the first day of a termination, and the day after the last.
    ADD COLUMN terminated_from date[] NOT NULL DEFAULT '{}',
    ADD COLUMN terminated_to   date[] NOT NULL DEFAULT '{}';

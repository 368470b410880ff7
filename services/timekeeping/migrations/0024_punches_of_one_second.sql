-- +goose Up
-- An employee who punches out and in within a second, or who changes jobs in the second of the punch in, has
-- made two punches. A repetition of the same punch is still the same punch.
ALTER TABLE punch DROP CONSTRAINT punch_once,
    ADD CONSTRAINT punch_once UNIQUE (tenant_id, employee_id, at, direction, is_transfer);

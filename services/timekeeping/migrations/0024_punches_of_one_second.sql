-- +goose Up
-- Who punches out and in within a second, or changes jobs in the second of the punch in, has
-- made two punches. The same punch that is sent again still is the same one.
ALTER TABLE punch DROP CONSTRAINT punch_once,
    ADD CONSTRAINT punch_once UNIQUE (tenant_id, employee_id, at, direction, is_transfer);

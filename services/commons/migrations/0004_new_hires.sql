-- +goose Up
-- Data from new hires that only payroll needs. Social security numbers and bank accounts are not stored.
CREATE TABLE new_hire (
    tenant_id                 bigint      NOT NULL,
    person_id                 bigint      NOT NULL,
    -- Iowa: claimed allowances in whole currency units; NULL if they were not given.
    resident_state_allowances bigint      CHECK (resident_state_allowances BETWEEN 0 AND 9999999999),
    work_state_allowances     bigint      CHECK (work_state_allowances BETWEEN 0 AND 9999999999),
    -- rotaloom.commons.v1.NewHire without these columns.
    body                      bytea       NOT NULL,
    created_at                timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, person_id),
    FOREIGN KEY (tenant_id, person_id) REFERENCES person (tenant_id, id) ON DELETE CASCADE
);

SELECT isolate_tenants('new_hire', 'inline_strict');

-- +goose Up
-- Earnings from other systems. An earning that payroll staging included is kept as long as the tenant, with
-- its refId. Other earnings may be deleted, and their refIds can then be used again.

CREATE TABLE payroll_earning (
    tenant_id   bigint      NOT NULL,
    ref_id      uuid        NOT NULL,
    employee_id bigint      NOT NULL,
    -- The day of the payment.
    charge_date date        NOT NULL,
    code        text        NOT NULL,
    job         text        NOT NULL,
    hours       numeric,
    amount      numeric,
    -- rotaloom.timekeeping.v1.PayrollEarning as it was sent.
    body        bytea       NOT NULL,
    -- The staging run that included the earning; NULL if there is none yet.
    staging_id  uuid,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, ref_id)
);
CREATE INDEX payroll_earning_open ON payroll_earning (tenant_id, employee_id, charge_date) WHERE staging_id IS NULL;

SELECT isolate_tenants('payroll_earning', 'inline_strict');

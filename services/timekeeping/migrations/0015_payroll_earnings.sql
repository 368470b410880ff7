-- +goose Up
-- Earnings of other systems. One that payroll took stays for as long as the tenant
-- does, and so does its refId; one that it did not take may be deleted, and its refId
-- is then free.

CREATE TABLE payroll_earning (
    tenant_id   bigint      NOT NULL,
    ref_id      uuid        NOT NULL,
    employee_id bigint      NOT NULL,
    -- The day for which it is paid.
    charge_date date        NOT NULL,
    code        text        NOT NULL,
    job         text        NOT NULL,
    hours       numeric,
    amount      numeric,
    -- rotaloom.timekeeping.v1.PayrollEarning, as it was given.
    body        bytea       NOT NULL,
    -- The staging run that took it into payroll; NULL until one has.
    staging_id  uuid,
    created_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, ref_id)
);
CREATE INDEX payroll_earning_open ON payroll_earning (tenant_id, employee_id, charge_date) WHERE staging_id IS NULL;

ALTER TABLE payroll_earning ENABLE ROW LEVEL SECURITY;
ALTER TABLE payroll_earning FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON payroll_earning USING
    (tenant_id = nullif(current_setting('rotaloom.tenant_id', true), '')::bigint);

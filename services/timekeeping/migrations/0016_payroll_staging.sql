-- +goose Up
-- Payroll staging: runs, batches of employees for workers, and rows.

CREATE TABLE payroll_staging (
    tenant_id    bigint      NOT NULL,
    id           uuid        NOT NULL,
    -- The caller's id of the run.
    execution_id text        NOT NULL,
    -- Whole days, the last one included.
    start_date   date        NOT NULL,
    end_date     date        NOT NULL,
    -- rotaloom.timekeeping.v1.PayrollStagingRequest without employees.
    body         bytea       NOT NULL,
    state        text        NOT NULL DEFAULT 'pending',
    batches      int         NOT NULL,
    batches_left int         NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT now(),
    -- When a batch was last staged or requested, and when the run ended.
    moved_at     timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT payroll_staging_execution UNIQUE (tenant_id, execution_id)
);
CREATE INDEX payroll_staging_open ON payroll_staging (moved_at) WHERE finished_at IS NULL;
CREATE INDEX payroll_staging_finished ON payroll_staging (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE payroll_staging_batch (
    tenant_id    bigint   NOT NULL,
    staging_id   uuid     NOT NULL,
    batch        int      NOT NULL,
    employee_ids bigint[] NOT NULL,
    -- The number of attempts of workers.
    attempts     int      NOT NULL DEFAULT 0,
    staged       boolean  NOT NULL DEFAULT false,
    PRIMARY KEY (tenant_id, staging_id, batch),
    FOREIGN KEY (tenant_id, staging_id) REFERENCES payroll_staging (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE payroll_staged_employee (
    tenant_id     bigint NOT NULL,
    staging_id    uuid   NOT NULL,
    employee_id   bigint NOT NULL,
    person_number text   NOT NULL,
    full_name     text   NOT NULL,
    -- '' for employees who were staged.
    error_code    text   NOT NULL,
    message       text   NOT NULL,
    -- Values of the custom fields, in the order of the request.
    custom_fields text[] NOT NULL,
    PRIMARY KEY (tenant_id, staging_id, employee_id),
    FOREIGN KEY (tenant_id, staging_id) REFERENCES payroll_staging (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE payroll_staged_row (
    tenant_id       bigint  NOT NULL,
    staging_id      uuid    NOT NULL,
    employee_id     bigint  NOT NULL,
    row_number      int     NOT NULL,
    apply_date      date    NOT NULL,
    pay_code        text    NOT NULL,
    job             text    NOT NULL,
    -- WORKED, PAY_CODE_EDIT, HISTORICAL_CORRECTION or EARNING.
    kind            text    NOT NULL,
    -- The corrected, signed-off day.
    historical_date date,
    -- Time in seconds, or in hours for an earning, whose hours may have fractions of a second.
    seconds         bigint  NOT NULL,
    hours           numeric,
    days            numeric,
    money           numeric,
    PRIMARY KEY (tenant_id, staging_id, employee_id, row_number),
    FOREIGN KEY (tenant_id, staging_id) REFERENCES payroll_staging (tenant_id, id) ON DELETE CASCADE
);

CREATE TABLE payroll_export (
    tenant_id  bigint      NOT NULL,
    id         uuid        NOT NULL,
    staging_id uuid        NOT NULL,
    -- rotaloom.timekeeping.v1.PayrollExportRequest.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, staging_id) REFERENCES payroll_staging (tenant_id, id) ON DELETE CASCADE
);

SELECT isolate_tenants(isolated)
FROM unnest(ARRAY['payroll_staging', 'payroll_staging_batch', 'payroll_staged_employee', 'payroll_staged_row', 'payroll_export']::regclass[]) AS isolated;
-- The sweep reads runs of all tenants that make no progress or are too old.
CREATE POLICY sweep ON payroll_staging FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

-- +goose Up
-- The ledger of payroll: the rows of all runs that were not cancelled. A later run stages the differences
-- between the current totals and these rows.
ALTER TABLE payroll_staged_row
    ADD COLUMN pay_code_id bigint NOT NULL DEFAULT 0,
    -- The reason of a correction: AFTER_SIGN_OFF or AFTER_STAGING, or ''.
    ADD COLUMN cause text NOT NULL DEFAULT '',
    -- The day that the row pays for.
    ADD COLUMN paid_day date NOT NULL GENERATED ALWAYS AS (coalesce(historical_date, apply_date)) STORED;
CREATE INDEX payroll_staged_row_day ON payroll_staged_row (tenant_id, employee_id, paid_day) WHERE kind <> 'EARNING';

-- The last day whose totals the run staged; NULL if it staged none.
ALTER TABLE payroll_staged_employee ADD COLUMN covered_through date;
CREATE INDEX payroll_staged_employee_covered ON payroll_staged_employee (tenant_id, employee_id, covered_through) WHERE covered_through IS NOT NULL;

-- When the first export of a run was requested. Such a run cannot be cancelled.
ALTER TABLE payroll_staging ADD COLUMN exported_at timestamptz;

-- Runs that callers can no longer read are expired. Their rows stay in the ledger.
DROP INDEX payroll_staging_finished;
CREATE INDEX payroll_staging_kept ON payroll_staging (finished_at) WHERE finished_at IS NOT NULL AND state <> 'expired';

-- One row for each employee whom a run has staged, or whose timecard was signed off.
CREATE TABLE payroll_ledger_head (
    tenant_id    bigint NOT NULL,
    employee_id  bigint NOT NULL,
    -- Increases with each run and each cancellation.
    version      bigint NOT NULL DEFAULT 0,
    -- Increases with each change of signed-off days.
    changes      bigint NOT NULL DEFAULT 0,
    -- Days that changed after a run compared them with the ledger; both or none.
    changed_from date,
    changed_to   date,
    PRIMARY KEY (tenant_id, employee_id),
    CHECK ((changed_from IS NULL) = (changed_to IS NULL) AND changed_from < changed_to)
);
SELECT isolate_tenants('payroll_ledger_head');

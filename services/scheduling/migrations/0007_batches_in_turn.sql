-- +goose Up
-- Batches wait for their turn: only a limited number of a tenant's batches is requested at once. A row is
-- deleted when its batch is done, so the table stays small.
DROP TABLE propagation_batch;
CREATE TABLE propagation_batch (
    tenant_id         bigint   NOT NULL,
    propagation_id    bigint   NOT NULL,
    batch             int      NOT NULL,
    -- Ascending; first_employee_id is the first of them, and buckets are the buckets of their locks.
    employee_ids      bigint[] NOT NULL,
    first_employee_id bigint   NOT NULL,
    buckets           int[]    NOT NULL,
    -- The tenant's batches are requested in ascending order of turn.
    turn              bigint   NOT NULL,
    -- For a batch that took too long: it is processed separately.
    part              boolean  NOT NULL DEFAULT false,
    -- WAITING, REQUESTED or FAILED.
    state             text     NOT NULL DEFAULT 'WAITING',
    PRIMARY KEY (tenant_id, propagation_id, batch),
    FOREIGN KEY (tenant_id, propagation_id) REFERENCES propagation (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX propagation_batch_employees ON propagation_batch (tenant_id, first_employee_id);
CREATE INDEX propagation_batch_first ON propagation_batch (tenant_id, propagation_id, first_employee_id);
CREATE INDEX propagation_batch_waiting ON propagation_batch (tenant_id, turn, propagation_id, batch) WHERE state = 'WAITING';
CREATE INDEX propagation_batch_requested ON propagation_batch (tenant_id, turn) WHERE state = 'REQUESTED';

SELECT isolate_tenants('propagation_batch', 'subselect_strict');

-- The propagation whose batches apply this one: its own id, or the id of another one with the same terms and
-- employees. NULL until the batches exist.
ALTER TABLE propagation ADD COLUMN applied_by bigint;
CREATE INDEX propagation_applied_by ON propagation (tenant_id, applied_by) WHERE state <> 'FINISHED';
-- Every batch updates its propagation.
ALTER TABLE propagation SET (fillfactor = 50);

-- Unfinished propagations are divided into batches again.
ALTER TABLE propagation NO FORCE ROW LEVEL SECURITY;
UPDATE propagation SET state = 'ACCEPTED', started_at = NULL, employees_total = 0, employees_done = 0,
    batches_total = 0, batches_done = 0, moved_at = '-infinity'
WHERE state <> 'FINISHED';
ALTER TABLE propagation FORCE ROW LEVEL SECURITY;

-- +goose Up
-- The employees of a batch that failed in the last attempt, and the error codes at the same positions. They
-- are among employee_ids, unless the previous release has processed a part of the batch.
ALTER TABLE propagation_batch
    ADD COLUMN failed_employee_ids bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN failed_codes text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN propagation_batch.state IS
    'WAITING, REQUESTED, RETRYING (asked for again later by the broker, outside the window of the tenant) or FAILED';

-- +goose Up
-- The employees of a batch for whom the last attempt failed, and the code of each error at
-- the same position. They are among employee_ids, unless the release before this one has
-- done a part of the batch.
ALTER TABLE propagation_batch
    ADD COLUMN failed_employee_ids bigint[] NOT NULL DEFAULT '{}',
    ADD COLUMN failed_codes text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN propagation_batch.state IS
    'WAITING, REQUESTED, RETRYING (asked for again later by the broker, outside the window of the tenant) or FAILED';

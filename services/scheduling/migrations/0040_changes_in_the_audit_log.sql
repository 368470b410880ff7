-- +goose Up
-- The number of the change that a transaction makes to schedules, in the row of the audit log that is committed with
-- it: it finds the user who made a change. NULL if the transaction changes no schedule.
ALTER TABLE audit_event ADD COLUMN change_revision bigint;
ALTER TABLE audit_event ALTER COLUMN change_revision
    SET DEFAULT nullif(current_setting('rotaloom.change_revision', true), '')::bigint;

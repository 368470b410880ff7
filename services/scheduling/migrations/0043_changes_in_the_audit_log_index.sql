-- +goose NO TRANSACTION
-- +goose Up
-- Finds the row of the audit log of a change. A failed attempt leaves an invalid index, which is created again.
DROP INDEX CONCURRENTLY IF EXISTS audit_event_change;
CREATE INDEX CONCURRENTLY audit_event_change ON audit_event (tenant_id, change_revision) WHERE change_revision IS NOT NULL;

-- +goose NO TRANSACTION
-- +goose Up
-- For finding the punches of a work rule before it is deleted.
DROP INDEX CONCURRENTLY IF EXISTS punch_work_rule;
CREATE INDEX CONCURRENTLY punch_work_rule ON punch (tenant_id, work_rule_id) WHERE work_rule_id IS NOT NULL;

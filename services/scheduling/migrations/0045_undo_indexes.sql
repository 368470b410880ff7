-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS pattern_assignment_propagation;
CREATE INDEX CONCURRENTLY pattern_assignment_propagation ON pattern_assignment (tenant_id, propagation_id);
DROP INDEX CONCURRENTLY IF EXISTS pattern_assignment_ended_by;
CREATE INDEX CONCURRENTLY pattern_assignment_ended_by ON pattern_assignment (tenant_id, ended_by) WHERE ended_by IS NOT NULL;
-- A propagation is undone once.
DROP INDEX CONCURRENTLY IF EXISTS propagation_undoes;
CREATE UNIQUE INDEX CONCURRENTLY propagation_undoes ON propagation (tenant_id, undoes_propagation_id)
    WHERE undoes_propagation_id IS NOT NULL;

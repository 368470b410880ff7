-- +goose NO TRANSACTION
-- +goose Up
-- Persons whom the release before creates meanwhile may share a key. The index is then not
-- made, and the error names the key: give one of the two another number, and migrate again.
DROP INDEX CONCURRENTLY IF EXISTS person_number_key;
CREATE UNIQUE INDEX CONCURRENTLY person_number_key ON person (tenant_id, person_number_key);

-- +goose NO TRANSACTION
-- +goose Up
-- Persons that the previous release creates during the migration may share a key. The index is then not
-- created, and the error names the key: give one of the two persons another number, and migrate again.
DROP INDEX CONCURRENTLY IF EXISTS person_number_key;
CREATE UNIQUE INDEX CONCURRENTLY person_number_key ON person (tenant_id, person_number_key);

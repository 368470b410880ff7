-- +goose NO TRANSACTION
-- +goose Up
-- Types that are created during the migration may share a persistent id. The index is then not created, and
-- the error names the id: delete one of the two types, and migrate again.
DROP INDEX CONCURRENTLY IF EXISTS location_type_persistent_id;
CREATE UNIQUE INDEX CONCURRENTLY location_type_persistent_id ON location_type (tenant_id, persistent_id);

-- +goose NO TRANSACTION
-- +goose Up
-- Types that are made meanwhile may share a persistent id. The index is then not made, and
-- the error names the id: delete one of the two, and migrate again.
DROP INDEX CONCURRENTLY IF EXISTS location_type_persistent_id;
CREATE UNIQUE INDEX CONCURRENTLY location_type_persistent_id ON location_type (tenant_id, persistent_id);

-- +goose NO TRANSACTION
-- +goose Up
-- For finding the persons of a schedule group before it is deleted, and when it gets another name.
DROP INDEX CONCURRENTLY IF EXISTS person_schedule_group;
CREATE INDEX CONCURRENTLY person_schedule_group ON person (tenant_id, lower(schedule_group_name)) WHERE schedule_group_name <> '';

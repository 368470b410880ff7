-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS opportunity_boards;
CREATE INDEX CONCURRENTLY opportunity_boards ON opportunity USING gin (job_board_ids) WHERE is_published;

-- +goose Up

-- The requests whose changes a propagation applies. Their callers find the propagation by it.
ALTER TABLE propagation ADD COLUMN request_ids text[] NOT NULL DEFAULT '{}';
CREATE INDEX propagation_requests ON propagation USING gin (request_ids) WITH (fastupdate = off);

-- +goose Up
-- Refusals of one kind share a row: how often, and when for the last time.
ALTER TABLE audit_event
    ADD COLUMN times   bigint NOT NULL DEFAULT 1,
    -- NULL for what happened once.
    ADD COLUMN last_at timestamptz;

-- +goose Up
-- Refusals of one kind share a row, with their number and the time of the last one.
ALTER TABLE audit_event
    ADD COLUMN times   bigint NOT NULL DEFAULT 1,
    -- NULL for an event that happened once.
    ADD COLUMN last_at timestamptz;

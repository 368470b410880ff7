-- +goose Up
-- The event that sends a generic notification, in lower case, so that an event has only
-- its own ones read. Empty for those that no event sends. They are found by tenant: it
-- has 10,000 at most, and what is large stands in their bodies.
ALTER TABLE generic_notification
    ADD COLUMN domain text NOT NULL DEFAULT '',
    ADD COLUMN event  text NOT NULL DEFAULT '';

-- +goose Up
-- The event that sends a generic notification, in lower case, so that only the notifications of an event are
-- read for it. Empty if no event sends it. The index has the tenant only: a tenant has at most 10,000
-- notifications, and most of their data is in their bodies.
ALTER TABLE generic_notification
    ADD COLUMN domain text NOT NULL DEFAULT '',
    ADD COLUMN event  text NOT NULL DEFAULT '';

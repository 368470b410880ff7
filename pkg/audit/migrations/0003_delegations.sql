-- +goose Up
-- The persons on whose behalf something was done: whose delegations showed the user
-- whom it concerned.
ALTER TABLE audit_event ADD COLUMN on_behalf_of bigint[] NOT NULL DEFAULT '{}';

-- +goose Up
-- The delegators whose delegations let the user see the affected person.
ALTER TABLE audit_event ADD COLUMN on_behalf_of bigint[] NOT NULL DEFAULT '{}';

-- +goose Up
-- Clients that work for themselves, without a user.
ALTER TABLE client
    ADD COLUMN client_grant   boolean NOT NULL DEFAULT false,
    -- The permissions of the client's own work: an access profile, as for users.
    ADD COLUMN access_profile text    NOT NULL DEFAULT '';

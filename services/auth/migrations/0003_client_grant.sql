-- +goose Up
-- Clients that work for themselves, without a user.
ALTER TABLE client
    ADD COLUMN client_grant   boolean NOT NULL DEFAULT false,
    -- What the client may then do: an access profile, as a user's.
    ADD COLUMN access_profile text    NOT NULL DEFAULT '';

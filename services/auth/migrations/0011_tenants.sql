-- +goose Up
-- Tenants that an operator disabled: their users cannot log in.
ALTER TABLE tenant ADD COLUMN disabled_at timestamptz;

-- The token family of the client's own work. It changes when its tokens are revoked. It begins with "c-",
-- unlike families of users.
ALTER TABLE client ADD COLUMN own_sid text NOT NULL DEFAULT 'c-' || replace(gen_random_uuid()::text, '-', '');

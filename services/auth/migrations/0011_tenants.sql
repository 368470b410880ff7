-- +goose Up
-- Tenants that an operator switched off: nobody of theirs logs in.
ALTER TABLE tenant ADD COLUMN disabled_at timestamptz;

-- The family of the tokens that a client gets for its own work. It changes when
-- they have to end. It begins with "c-", which that of no user does.
ALTER TABLE client ADD COLUMN own_sid text NOT NULL DEFAULT 'c-' || replace(gen_random_uuid()::text, '-', '');

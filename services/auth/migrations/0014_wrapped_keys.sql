-- +goose Up
-- If the installation has a wrapping key, private keys are encrypted with it (wrapped); the database does not
-- have that key. A key signs from use_from on. It is published before that, so that every service knows it
-- when its first token arrives.
ALTER TABLE signing_key
    ADD COLUMN wrapped  boolean     NOT NULL DEFAULT false,
    ADD COLUMN use_from timestamptz NOT NULL DEFAULT '-infinity';

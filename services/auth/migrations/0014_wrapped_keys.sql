-- +goose Up
-- Private keys are encrypted by a key that the database does not hold (wrapped), when
-- the installation has one. A key signs from use_from on: it is published before, so
-- that every service knows it when its first token comes.
ALTER TABLE signing_key
    ADD COLUMN wrapped  boolean     NOT NULL DEFAULT false,
    ADD COLUMN use_from timestamptz NOT NULL DEFAULT '-infinity';

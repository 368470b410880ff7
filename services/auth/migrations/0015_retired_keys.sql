-- +goose Up
-- A signing key that retires is replaced as if its time were over: the next one is
-- published, and signs, and the key stays until its last token has ended.
ALTER TABLE signing_key ADD COLUMN retires boolean NOT NULL DEFAULT false;

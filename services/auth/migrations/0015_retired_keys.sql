-- +goose Up
-- A retired signing key is replaced as if it had expired: the next one is published and signs. The retired
-- key is kept until its last token expires.
ALTER TABLE signing_key ADD COLUMN retires boolean NOT NULL DEFAULT false;

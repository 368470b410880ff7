-- +goose Up
-- A digest of whom the caller saw when the request was carried out. An answer of
-- which that is not known is not given again.
ALTER TABLE idempotency_key ADD COLUMN sight bytea NOT NULL DEFAULT '';

-- +goose Up
-- A digest of the employees whom the caller could see when the request was executed. A response without the
-- digest is not repeated.
ALTER TABLE idempotency_key ADD COLUMN sight bytea NOT NULL DEFAULT '';

-- +goose Up
-- The earliest of believed_from in a block of past spans. A read as of an instant skips the blocks whose spans were
-- all believed later, without reading their lists. Existing blocks, and those of older programs, are always read.
ALTER TABLE span_past_block ADD COLUMN first_believed_from timestamptz NOT NULL DEFAULT '-infinity';

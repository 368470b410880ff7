-- +goose Up
-- The number of the newest applied term request of commons: each request is applied once.
ALTER TABLE membership_head ADD COLUMN term_request bigint NOT NULL DEFAULT 0;

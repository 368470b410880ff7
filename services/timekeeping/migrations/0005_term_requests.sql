-- +goose Up
-- Number of the newest term request of commons that was carried out: each is
-- carried out once.
ALTER TABLE membership_head ADD COLUMN term_request bigint NOT NULL DEFAULT 0;

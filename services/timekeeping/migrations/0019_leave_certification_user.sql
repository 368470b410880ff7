-- +goose Up
-- The person id of the user who entered a certification, for clients.
ALTER TABLE leave_certification ADD COLUMN entered_by_id bigint NOT NULL DEFAULT 0;

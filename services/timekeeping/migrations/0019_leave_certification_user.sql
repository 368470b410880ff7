-- +goose Up
-- The person of the user who entered a certification: clients read the id.
ALTER TABLE leave_certification ADD COLUMN entered_by_id bigint NOT NULL DEFAULT 0;

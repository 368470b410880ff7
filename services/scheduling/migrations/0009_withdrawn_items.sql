-- +goose Up
-- An entry that was made from a generated one of an employment term goes with the
-- employment: it is not shown while the employee is on no term on its day. Written
-- with the spans.
ALTER TABLE schedule_item ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;
ALTER TABLE schedule_item_past ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;

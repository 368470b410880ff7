-- +goose Up
-- An entry that was made from a generated one of an employment term depends on the employment: it is not
-- shown while the employee is on no term on its day. The column is written with the spans.
ALTER TABLE schedule_item ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;
ALTER TABLE schedule_item_past ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;

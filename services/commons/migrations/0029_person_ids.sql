-- +goose Up
-- Ids of generated entries do not contain the id of a person any more, so persons need no
-- bound of 25 bits. A restore leaves ids out.
ALTER SEQUENCE person_id MAXVALUE 4503599627370495;

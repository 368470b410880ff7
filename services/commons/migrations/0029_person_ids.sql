-- +goose Up
-- Ids of generated entries no longer contain the id of a person, so ids of persons may exceed 25 bits. A
-- restore skips ids.
ALTER SEQUENCE person_id MAXVALUE 4503599627370495;

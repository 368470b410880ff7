-- +goose Up
-- rotaloom.commons.v1.PersonZones: the time zones of a person who had more than one, the last of
-- which is time_zone; empty if time_zone holds on all days.
ALTER TABLE person ADD COLUMN time_zones bytea NOT NULL DEFAULT '';

-- +goose Up
-- rotaloom.commons.v1.PersonZones: the time zones of a person with several time zones. The last one equals
-- time_zone. Empty if time_zone applies to all days.
ALTER TABLE person ADD COLUMN time_zones bytea NOT NULL DEFAULT '';

-- +goose Up
-- The primary jobs of a person from day to day, of commons (rotaloom.commons.v1.PersonJobs):
-- segments of shifts that name no job are on them.
ALTER TABLE employee ADD COLUMN primary_jobs bytea NOT NULL DEFAULT '';

-- +goose Up
-- The primary jobs of a person from day to day, from commons (rotaloom.commons.v1.PersonJobs), for segments
-- of shifts that name no job.
ALTER TABLE employee ADD COLUMN primary_jobs bytea NOT NULL DEFAULT '';

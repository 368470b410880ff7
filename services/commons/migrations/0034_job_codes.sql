-- +goose Up
-- Recruiting finds jobs by their codes.
CREATE INDEX job_version_code ON job_version (tenant_id, code) WHERE code <> '';

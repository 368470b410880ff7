-- +goose Up
-- replica_head and replica_gap have the versions of copied data, and the missing parts.
DROP TABLE projection_want;
DROP TABLE membership_head;
DROP TABLE schedule_head;
ALTER TABLE employment_term ALTER COLUMN version SET DEFAULT 0;
-- The revision is in replica_head; the version is the version of the entry.
ALTER TABLE entered_shift DROP COLUMN revision;
ALTER TABLE entered_shift ADD COLUMN version bigint NOT NULL DEFAULT 0;
-- Services with copies of persons are told which tenants exist. The policy for a single tenant must then
-- return no rows instead of failing.
DROP POLICY tenant ON person;
CREATE POLICY tenant ON person USING
    (tenant_id = (SELECT nullif(nullif(current_setting('rotaloom.tenant_id', true), ''), '*')::bigint));
CREATE POLICY sweep ON person FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

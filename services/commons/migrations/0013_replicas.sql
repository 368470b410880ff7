-- +goose Up
-- The versions of what is kept of other domains, and what is lacking, are in
-- replica_head and replica_gap.
DROP TABLE projection_want;
DROP TABLE membership_head;
DROP TABLE schedule_head;
ALTER TABLE employment_term ALTER COLUMN version SET DEFAULT 0;
-- The revision is in replica_head; the version is that of the entry.
ALTER TABLE entered_shift DROP COLUMN revision;
ALTER TABLE entered_shift ADD COLUMN version bigint NOT NULL DEFAULT 0;
-- Those who keep copies of persons are told which tenants there are. The tenant's
-- own policy must then say nothing, rather than fail.
DROP POLICY tenant ON person;
CREATE POLICY tenant ON person USING
    (tenant_id = (SELECT nullif(nullif(current_setting('rotaloom.tenant_id', true), ''), '*')::bigint));
CREATE POLICY sweep ON person FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

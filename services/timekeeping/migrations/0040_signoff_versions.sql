-- +goose Up
-- The versions of the sign-offs of employees, for the services that copy them. An employee without a row has version
-- 1: the sign-offs were stored by a program of the release before.
CREATE TABLE timecard_signoff_version (
    tenant_id   bigint NOT NULL,
    employee_id bigint NOT NULL,
    version     bigint NOT NULL,
    PRIMARY KEY (tenant_id, employee_id)
);
SELECT isolate_tenants('timecard_signoff_version', 'text');

-- The comparison of copies reads the tenants that have sign-offs.
CREATE POLICY sweep ON timecard_signoff_version FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');
CREATE POLICY sweep ON timecard_signoff FOR SELECT USING
    (current_setting('rotaloom.tenant_id', true) = '*');

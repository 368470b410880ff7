-- +goose Up
-- A managerEmployeeGroupName without a slash is that of a hyperfind. Those that
-- were given before are all organization paths, and say so by a slash at their
-- end. The owner of a table sees all tenants only while its policies are not
-- forced upon them.
ALTER TABLE person_access_assignment NO FORCE ROW LEVEL SECURITY;
UPDATE person_access_assignment SET manager_employee_group_name = trim(manager_employee_group_name) || '/'
WHERE manager_employee_group_name NOT LIKE '%/%' AND trim(manager_employee_group_name) <> '';
ALTER TABLE person_access_assignment FORCE ROW LEVEL SECURITY;

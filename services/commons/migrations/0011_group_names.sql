-- +goose Up
-- A managerEmployeeGroupName without a slash names a hyperfind. All existing names are organization paths,
-- and get a slash at the end. The owner of a table sees all tenants only while row-level security is not
-- forced.
ALTER TABLE person_access_assignment NO FORCE ROW LEVEL SECURITY;
UPDATE person_access_assignment SET manager_employee_group_name = trim(manager_employee_group_name) || '/'
WHERE manager_employee_group_name NOT LIKE '%/%' AND trim(manager_employee_group_name) <> '';
ALTER TABLE person_access_assignment FORCE ROW LEVEL SECURITY;

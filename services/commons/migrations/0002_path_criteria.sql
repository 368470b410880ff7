-- +goose Up
-- rotaloom.commons.v1.OrganizationCriteria by which the caller named the path,
-- beside the path itself.
ALTER TABLE primary_labor_account ADD COLUMN path_criteria bytea;

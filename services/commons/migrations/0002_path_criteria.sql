-- +goose Up
-- The rotaloom.commons.v1.OrganizationCriteria in the request, beside the path.
ALTER TABLE primary_labor_account ADD COLUMN path_criteria bytea;

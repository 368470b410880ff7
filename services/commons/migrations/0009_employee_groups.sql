-- +goose Up
-- Who works at a path or below it. Compared by bytes, so that a range of texts
-- is a range of the index whatever the language of the database.
CREATE INDEX primary_labor_account_below ON primary_labor_account
    (tenant_id, organization_path text_pattern_ops, person_id);

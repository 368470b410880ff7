-- +goose Up
-- A punch refers to its work rule by the id, also if the request named the work rule.
ALTER TABLE punch NO FORCE ROW LEVEL SECURITY;
ALTER TABLE work_rule NO FORCE ROW LEVEL SECURITY;
UPDATE punch p SET work_rule_id = r.id FROM work_rule r
WHERE r.tenant_id = p.tenant_id AND lower(r.name) = lower(p.work_rule) AND p.work_rule <> '' AND p.work_rule_id IS NULL;
ALTER TABLE work_rule FORCE ROW LEVEL SECURITY;
ALTER TABLE punch FORCE ROW LEVEL SECURITY;

-- +goose Up
-- If several existing persons have the same key, the oldest one gets it. The owner of a table sees all
-- tenants only while row-level security is not forced.
ALTER TABLE person NO FORCE ROW LEVEL SECURITY;
UPDATE person p SET person_number_key = q.key FROM (
    SELECT tenant_id, min(id) AS id, key FROM (SELECT tenant_id, id, person_number_key(person_number) AS key FROM person) k
    GROUP BY tenant_id, key) q
WHERE p.tenant_id = q.tenant_id AND p.id = q.id AND p.person_number_key IS NULL
  AND NOT EXISTS (SELECT FROM person o WHERE o.tenant_id = q.tenant_id AND o.person_number_key = q.key);
ALTER TABLE person FORCE ROW LEVEL SECURITY;

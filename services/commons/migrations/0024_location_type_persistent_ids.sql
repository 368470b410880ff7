-- +goose Up
-- The persistent id of a location type is unique in its tenant, as the persistent ids of jobs and locations
-- are. If several types share one, the oldest keeps it, and the other types get new ones. The owner of a
-- table sees all tenants only while row-level security is not forced. A tenant has at most a thousand types.
ALTER TABLE location_type NO FORCE ROW LEVEL SECURITY;
UPDATE location_type t SET persistent_id = gen_random_uuid()::text, version = version + 1, updated_at = now()
WHERE EXISTS (SELECT FROM location_type o WHERE o.tenant_id = t.tenant_id AND o.persistent_id = t.persistent_id AND o.id < t.id);
ALTER TABLE location_type FORCE ROW LEVEL SECURITY;

-- +goose Up
-- User names are the same if their keys are the same: case, width and spaces are ignored. The package
-- username computes the keys. Before, only case was ignored.
ALTER TABLE app_user ALTER COLUMN username_key DROP EXPRESSION;

-- SQL computes an approximation for existing names, unless another user has the key. The owner of a table
-- sees all tenants only while row-level security is not forced.
ALTER TABLE app_user NO FORCE ROW LEVEL SECURITY;
UPDATE app_user u SET username_key = q.key FROM (
    SELECT tenant_id, min(id) AS id, key FROM (
        SELECT tenant_id, id, lower(btrim(regexp_replace(normalize(username, NFKC), '\s+', ' ', 'g'))) AS key FROM app_user) k
    GROUP BY tenant_id, key) q
WHERE u.tenant_id = q.tenant_id AND u.id = q.id AND u.username_key <> q.key
  AND NOT EXISTS (SELECT FROM app_user o WHERE o.tenant_id = u.tenant_id AND o.username_key = q.key);
ALTER TABLE app_user FORCE ROW LEVEL SECURITY;

-- Whether the password has the minimum length for privileged users. It is unknown for passwords from before
-- this migration.
ALTER TABLE app_user ADD COLUMN long_password boolean NOT NULL DEFAULT false;

-- +goose Up
-- User names are the same when their keys are (the package username computes them):
-- case, width and spaces make no difference. Before, only case made none.
ALTER TABLE app_user ALTER COLUMN username_key DROP EXPRESSION;

-- What SQL can do of it for the names that are there, as long as nobody else has
-- the key then. The owner of a table sees all tenants only while its policies are
-- not forced upon them.
ALTER TABLE app_user NO FORCE ROW LEVEL SECURITY;
UPDATE app_user u SET username_key = q.key FROM (
    SELECT tenant_id, min(id) AS id, key FROM (
        SELECT tenant_id, id, lower(btrim(regexp_replace(normalize(username, NFKC), '\s+', ' ', 'g'))) AS key FROM app_user) k
    GROUP BY tenant_id, key) q
WHERE u.tenant_id = q.tenant_id AND u.id = q.id AND u.username_key <> q.key
  AND NOT EXISTS (SELECT FROM app_user o WHERE o.tenant_id = u.tenant_id AND o.username_key = q.key);
ALTER TABLE app_user FORCE ROW LEVEL SECURITY;

-- Whether the password has the length that those of privileged users need. Of
-- passwords from before this migration nobody knows.
ALTER TABLE app_user ADD COLUMN long_password boolean NOT NULL DEFAULT false;

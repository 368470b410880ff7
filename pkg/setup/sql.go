package setup

import "strings"

// statements are the SQL statements of a kind.
type statements struct {
	get, find, all, byUnique          string
	insert, replace, delete           string
	lock, lockReferenced, names, room string
	byGUID, lockGUID                  string
}

func newStatements(table string, guids bool) statements {
	identity := "t.id, t.version"
	if guids {
		identity += ", t.guid::text, t.created_at, t.updated_at"
	}
	sql := strings.NewReplacer("{table}", table, "{identity}", identity).Replace
	const find = `
SELECT {identity}, t.body FROM {table} t
WHERE t.tenant_id = $1
  AND (t.id = ANY($2) OR lower(t.name) = ANY (ARRAY(SELECT lower(n) FROM unnest($3::text[]) AS n)))`
	return statements{
		get: sql(`
SELECT {identity}, t.body FROM {table} t WHERE t.tenant_id = $1 AND t.id = $2`),
		find: sql(find),
		all: sql(`
SELECT {identity}, t.body FROM {table} t WHERE t.tenant_id = $1 ORDER BY lower(t.name) LIMIT $2`),
		byUnique: sql(`
SELECT {identity}, t.body FROM setup_unique u JOIN {table} t ON t.tenant_id = u.tenant_id AND t.id = u.id
WHERE u.tenant_id = $1 AND u.kind = '{table}' AND u.property = $2 AND u.value = ANY($3)`),
		insert: sql(`
INSERT INTO {table} AS t (tenant_id, name, body) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id, lower(name)) DO NOTHING
RETURNING {identity}`),
		replace: sql(`
UPDATE {table} AS t SET name = $3, body = $4, version = version + 1, updated_at = now()
WHERE tenant_id = $1 AND id = $2 AND ($5::bigint[] IS NULL OR version = ANY ($5))
RETURNING {identity}`),
		delete: sql(`
DELETE FROM {table} WHERE tenant_id = $1 AND id = $2 AND ($3::bigint[] IS NULL OR version = ANY ($3))
RETURNING version + 1`),
		lock: sql(`
SELECT FROM {table} WHERE tenant_id = $1 AND id = $2 FOR UPDATE`),
		lockReferenced: sql(find + ` ORDER BY t.id FOR KEY SHARE`),
		names: sql(`
SELECT id, name FROM {table} WHERE tenant_id = $1 AND id = ANY($2)`),
		room: sql(`
SELECT count(*) FROM (SELECT FROM {table} WHERE tenant_id = $1 LIMIT $2) AS stored`),
		byGUID: sql(`
SELECT id FROM {table} WHERE tenant_id = $1 AND guid = $2`),
		lockGUID: sql(`
SELECT {identity}, t.body FROM {table} t
WHERE t.tenant_id = $1 AND (t.guid = $2 OR $2::uuid IS NULL AND lower(t.name) = lower($3)) FOR KEY SHARE`),
	}
}

// Statements on the tables of references and unique properties.
const (
	deleteReferences = `
DELETE FROM setup_reference WHERE tenant_id = $1 AND kind = $2 AND id = $3
  AND NOT EXISTS (SELECT FROM unnest($4::text[], $5::bigint[]) AS kept (kind, id) WHERE kept.kind = target_kind AND kept.id = target_id)`
	insertReferences = `
INSERT INTO setup_reference (tenant_id, kind, id, target_kind, target_id)
SELECT DISTINCT $1::bigint, $2::text, $3::bigint, target.kind, target.id FROM unnest($4::text[], $5::bigint[]) AS target (kind, id)
ON CONFLICT DO NOTHING`
	findUser = `
SELECT kind, id FROM setup_reference WHERE tenant_id = $1 AND target_kind = $2 AND target_id = $3 AND NOT (kind = $2 AND id = $3)
ORDER BY kind, id LIMIT 1`

	deleteUnique = `
DELETE FROM setup_unique WHERE tenant_id = $1 AND kind = $2 AND id = $3
  AND NOT EXISTS (SELECT FROM unnest($4::text[], $5::text[]) AS kept (property, value) WHERE kept.property = setup_unique.property AND kept.value = setup_unique.value)`
	insertUnique = `
INSERT INTO setup_unique (tenant_id, kind, property, value, id)
VALUES ($1, $2, $3, $4, $5) ON CONFLICT (tenant_id, kind, property, value) DO NOTHING`
	uniqueHolder = `
SELECT id FROM setup_unique WHERE tenant_id = $1 AND kind = $2 AND property = $3 AND value = $4`
)

package recovery

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// kind is a kind of things that one service owns, and whose ids others keep.
type kind struct {
	name         string
	owner, table string
	// topic is that by which copies are kept.
	topic string
	// columns are how tables name the id.
	columns []string
	// names are the statements that name a thing, by the service that knows it.
	names map[string]string
}

// kinds are what is looked for after a restore.
var kinds = []kind{
	{
		name: "person", owner: "commons", table: "person", topic: "persons",
		columns: []string{"person_id", "employee_id"},
		names: map[string]string{
			"scheduling":  `SELECT full_name || ' (' || person_number || ')' FROM employee WHERE tenant_id = $1 AND id = $2`,
			"timekeeping": `SELECT full_name || ' (' || person_number || ')' FROM person WHERE tenant_id = $1 AND id = $2`,
			"auth":        `SELECT username FROM app_user WHERE tenant_id = $1 AND person_id = $2`,
		},
	},
	{
		name: "employment term", owner: "scheduling", table: "employment_term", topic: "employment_terms",
		columns: []string{"employment_term_id"},
		names:   map[string]string{"commons": `SELECT name FROM employment_term WHERE tenant_id = $1 AND id = $2`},
	},
	{
		name: "location", owner: "commons", table: "location",
		columns: []string{"location_id"},
	},
}

// Orphan is a thing that its owner does not have, and what others have of it.
type Orphan struct {
	Kind   string `json:"kind"`
	Tenant int64  `json:"tenant"`
	ID     int64  `json:"id"`
	Name   string `json:"name,omitempty"`
	// Rows are counts by table, "scheduling.schedule_item".
	Rows map[string]int64 `json:"rows"`
}

func (o *Orphan) text() string {
	tables := make([]string, 0, len(o.Rows))
	for table, n := range o.Rows {
		tables = append(tables, fmt.Sprintf("%s %d", table, n))
	}
	slices.Sort(tables)
	return fmt.Sprintf("tenant %d: %s %d %s: rows in %s", o.Tenant, o.Kind, o.ID, cmp.Or(o.Name, "(no name is known)"), strings.Join(tables, ", "))
}

// ignored are tables that name persons whose existence they do not depend on: what
// happened is history.
var ignored = map[string]bool{"audit_event": true, "account_lockout": true}

// FindOrphans returns what the databases have of things that the owner does not have, and
// of which nobody knows that they were deleted.
func FindOrphans(ctx context.Context, pools map[string]*pg.Pool, tenants []int64) ([]*Orphan, error) {
	var all []*Orphan
	for _, k := range kinds {
		for _, id := range tenants {
			found, err := k.find(tenant.With(ctx, id), pools, id)
			if err != nil {
				return nil, fmt.Errorf("look for lost %ss: %w", k.name, err)
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

func (k kind) find(ctx context.Context, pools map[string]*pg.Pool, tenantID int64) ([]*Orphan, error) {
	there, err := ids(ctx, pools[k.owner], fmt.Sprintf(`SELECT id FROM %s WHERE tenant_id = $1`, k.table), tenantID)
	if err != nil {
		return nil, err
	}
	gone := map[int64]bool{}
	lost := map[int64]*Orphan{}
	for _, service := range services {
		if service == k.owner {
			continue
		}
		pool := pools[service]
		if err := k.count(ctx, pool, service, tenantID, there, lost); err != nil {
			return nil, err
		}
		if k.topic == "" || service == "auth" || service == "platform" {
			continue
		}
		deleted, err := ids(ctx, pool, `SELECT key FROM replica_head WHERE tenant_id = $1 AND topic = '`+k.topic+`' AND deleted`, tenantID)
		if err != nil {
			return nil, err
		}
		for id := range deleted {
			gone[id] = true
		}
	}
	var found []*Orphan
	for id, o := range lost {
		if gone[id] {
			continue
		}
		for _, service := range services {
			if o.Name == "" && k.names[service] != "" {
				err := pools[service].QueryRow(ctx, k.names[service], tenantID, id).Scan(&o.Name)
				if err != nil && err != pgx.ErrNoRows { //nolint:errorlint // The pool wraps no rows.
					return nil, err
				}
			}
		}
		found = append(found, o)
	}
	slices.SortFunc(found, func(a, b *Orphan) int { return cmp.Compare(a.ID, b.ID) })
	return found, nil
}

// count adds what the tables of a service have of things that are not there.
func (k kind) count(ctx context.Context, pool *pg.Pool, service string, tenantID int64, there map[int64]bool, lost map[int64]*Orphan) error {
	type column struct{ Table, Name string }
	columns, err := pg.Collect(ctx, pool, pgx.RowToStructByPos[column], `SELECT c.relname::text, a.attname::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attname = ANY($1) AND a.atttypid = 'bigint'::regtype
    AND EXISTS (SELECT FROM pg_attribute t WHERE t.attrelid = c.oid AND t.attname = 'tenant_id' AND NOT t.attisdropped)`, k.columns)
	if err != nil {
		return err
	}
	for _, c := range columns {
		if ignored[c.Table] {
			continue
		}
		name := pgx.Identifier{c.Name}.Sanitize()
		var id, n int64
		if err := pg.ForEach(ctx, pool, []any{&id, &n}, func() error {
			if there[id] {
				return nil
			}
			if lost[id] == nil {
				lost[id] = &Orphan{Kind: k.name, Tenant: tenantID, ID: id, Rows: map[string]int64{}}
			}
			lost[id].Rows[service+"."+c.Table] += n
			return nil
		}, fmt.Sprintf(`SELECT %s, count(*) FROM %s WHERE tenant_id = $1 AND %[1]s > 0 GROUP BY 1`, name, pgx.Identifier{c.Table}.Sanitize()), tenantID); err != nil {
			return fmt.Errorf("%s of %s: %w", c.Table, service, err)
		}
	}
	return nil
}

func ids(ctx context.Context, pool *pg.Pool, sql string, tenantID int64) (map[int64]bool, error) {
	found := map[int64]bool{}
	var id int64
	err := pg.ForEach(ctx, pool, []any{&id}, func() error {
		found[id] = true
		return nil
	}, sql, tenantID)
	return found, err
}

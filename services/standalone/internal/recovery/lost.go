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
	"github.com/rotaloom/rotaloom/services/standalone/internal/inventory"
)

// kind describes objects that one service owns and other services refer to by id.
type kind struct {
	name         string
	owner, table string
	// topic is the topic of the copies.
	topic string
	// columns are the names of columns with the id.
	columns []string
	// names are queries for the name of an object, by service.
	names map[string]string
}

// kinds lists the kinds that are checked after a restore.
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
		name: "device group", owner: "timekeeping", table: "device_group", topic: "device_groups",
		columns: []string{"device_group_id"},
		names:   map[string]string{"commons": `SELECT name FROM device_group WHERE tenant_id = $1 AND id = $2`},
	},
	{
		name: "location", owner: "commons", table: "location",
		columns: []string{"location_id"},
	},
}

// Orphan is an object that its owner lacks, with the rows of other services that refer to it.
type Orphan struct {
	Kind   string `json:"kind"`
	Tenant int64  `json:"tenant"`
	ID     int64  `json:"id"`
	Name   string `json:"name,omitempty"`
	// Rows counts the rows by table, such as "scheduling.schedule_item".
	Rows map[string]int64 `json:"rows"`
}

func (o *Orphan) text() string {
	tables := make([]string, 0, len(o.Rows))
	for table, n := range o.Rows {
		tables = append(tables, fmt.Sprintf("%s %d", table, n))
	}
	slices.Sort(tables)
	return fmt.Sprintf("tenant %d: %s %d %s: rows in %s", o.Tenant, o.Kind, o.ID, cmp.Or(o.Name, "(unknown name)"), strings.Join(tables, ", "))
}

// ignored are tables with history, which may refer to persons that no longer exist.
var ignored = map[string]bool{"audit_event": true, "account_lockout": true}

// FindOrphans returns the objects that other databases refer to, but their owner lacks, unless a database knows
// that they were deleted.
func FindOrphans(ctx context.Context, pools map[string]*pg.Pool, tenants []int64) ([]*Orphan, error) {
	var all []*Orphan
	for _, k := range kinds {
		for _, id := range tenants {
			found, err := k.find(tenant.With(ctx, id), pools)
			if err != nil {
				return nil, fmt.Errorf("look for lost %ss: %w", k.name, err)
			}
			all = append(all, found...)
		}
	}
	return all, nil
}

func (k kind) find(ctx context.Context, pools map[string]*pg.Pool) ([]*Orphan, error) {
	tenantID := tenant.Of(ctx)
	existing, err := ids(ctx, pools[k.owner], fmt.Sprintf(`SELECT id FROM %s WHERE tenant_id = $1`, k.table))
	if err != nil {
		return nil, err
	}
	deletedIDs := map[int64]bool{}
	lost := map[int64]*Orphan{}
	for _, service := range services {
		if service == k.owner {
			continue
		}
		pool := pools[service]
		if err := k.count(ctx, pool, service, existing, lost); err != nil {
			return nil, err
		}
		if k.topic == "" || !keepsCopies(service) {
			continue
		}
		deleted, err := ids(ctx, pool, `SELECT key FROM replica_head WHERE tenant_id = $1 AND topic = '`+k.topic+`' AND deleted`)
		if err != nil {
			return nil, err
		}
		for id := range deleted {
			deletedIDs[id] = true
		}
	}
	var found []*Orphan
	for id, o := range lost {
		if deletedIDs[id] {
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

// keepsCopies reports whether a service keeps copies of data of other services.
func keepsCopies(service string) bool {
	return slices.ContainsFunc(inventory.Services(), func(s inventory.Service) bool { return s.Name == service && s.HasEvents() })
}

// count adds the rows of a service's tables that refer to missing objects.
func (k kind) count(ctx context.Context, pool *pg.Pool, service string, existing map[int64]bool, lost map[int64]*Orphan) error {
	tenantID := tenant.Of(ctx)
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
			if existing[id] {
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

func ids(ctx context.Context, pool *pg.Pool, sql string) (map[int64]bool, error) {
	found := map[int64]bool{}
	var id int64
	err := pg.ForEach(ctx, pool, []any{&id}, func() error {
		found[id] = true
		return nil
	}, sql, tenant.Of(ctx))
	return found, err
}

package dataprovider

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
)

// NewServer returns the server of the providers of commons. The rules decide which persons
// are counted for a caller.
func NewServer(pool *pg.Pool, rules *rowvisibility.Rules) *dataelement.Server {
	return dataelement.NewServer(newPeople(pool), newLocations(pool, rules))
}

// Finder serves DataRowService.
type Finder struct {
	datav1.UnsafeDataRowServiceServer

	pool  *pg.Pool
	rules *rowvisibility.Rules
}

var _ datav1.DataRowServiceServer = (*Finder)(nil)

// NewFinder returns a Finder. The rules decide which persons a caller sees.
func NewFinder(pool *pg.Pool, rules *rowvisibility.Rules) *Finder {
	return &Finder{pool: pool, rules: rules}
}

// FindDataRows finds employees or locations, in the order of the request.
func (f *Finder) FindDataRows(ctx context.Context, req *datav1.FindDataRowsRequest) (*datav1.FindDataRowsResponse, error) {
	day, err := civil.ParseDate(req.GetDay())
	if err != nil {
		return nil, fault.Invalid(fault.CodeDate, "day: "+err.Error()+".")
	}
	var found *findResult
	if req.GetRowKind() == datav1.RowKind_ROW_KIND_LOCATION {
		found, err = f.locations(ctx, req.GetRows(), day)
	} else {
		found, err = f.employees(ctx, req.GetRows())
	}
	if err != nil {
		return nil, err
	}
	out := &datav1.FindDataRowsResponse{Rows: make([]*datav1.DataRow, len(req.GetRows()))}
	for i, asked := range req.GetRows() {
		out.Rows[i] = found.row(asked)
	}
	return out, nil
}

// findResult holds the rows that were found.
type findResult struct {
	qualifiers map[int64]string
	ids        map[string]int64
}

func (k *findResult) row(asked *datav1.DataRow) *datav1.DataRow {
	id := asked.GetId()
	if id == 0 {
		id = k.ids[asked.GetQualifier()]
	}
	if qualifier, there := k.qualifiers[id]; there {
		return &datav1.DataRow{Id: id, Qualifier: qualifier}
	}
	return &datav1.DataRow{}
}

// names splits the requested rows into ids and qualifiers.
func names(asked []*datav1.DataRow) (ids []int64, qualifiers []string) {
	for _, row := range asked {
		if row.GetId() != 0 {
			ids = append(ids, row.GetId())
		} else {
			qualifiers = append(qualifiers, row.GetQualifier())
		}
	}
	return ids, qualifiers
}

func (f *Finder) employees(ctx context.Context, asked []*datav1.DataRow) (*findResult, error) {
	tenantID := tenant.Of(ctx)
	visible, err := f.rules.Visible(ctx)
	if err != nil {
		return nil, err
	}
	ids, numbers := names(asked)
	rows, err := f.pool.Query(ctx, `
		SELECT id, person_number, person_number FROM person WHERE tenant_id = $1 AND id = ANY($2)
		UNION SELECT p.id, p.person_number, u.number
		FROM (SELECT number, person_by_number($1, number) AS id FROM unnest($3::text[]) AS named (number) OFFSET 0) AS u
		JOIN person p ON p.tenant_id = $1 AND p.id = u.id`, tenantID, ids, numbers)
	if err != nil {
		return nil, err
	}
	return collect(rows, visible.Has)
}

func (f *Finder) locations(ctx context.Context, asked []*datav1.DataRow, day civil.Date) (*findResult, error) {
	tenantID := tenant.Of(ctx)
	ids, paths := names(asked)
	rows, err := f.pool.Query(ctx, `
		SELECT l.id, coalesce(`+locationpath.PathSQL("$1", "l.id", "$4::date")+`, ''), '' FROM location l WHERE l.tenant_id = $1 AND l.id = ANY($2)
		UNION ALL SELECT named.id, named.path, named.path
		FROM (SELECT `+locationpath.AtSQL("$1", "asked.path", "$4::date")+` AS id, asked.path
			FROM (SELECT DISTINCT unnest($3::text[]) AS path) AS asked) AS named WHERE named.id IS NOT NULL`,
		tenantID, ids, paths, day)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(int64) bool { return true })
}

// collect reads rows with three columns: an id, its qualifier, and the qualifier in the
// request.
func collect(rows pgx.Rows, seen func(int64) bool) (*findResult, error) {
	out := &findResult{qualifiers: map[int64]string{}, ids: map[string]int64{}}
	var id int64
	var qualifier, asked string
	_, err := pgx.ForEachRow(rows, []any{&id, &qualifier, &asked}, func() error {
		if seen(id) {
			out.qualifiers[id], out.ids[asked] = qualifier, id
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for rows: %w", err)
	}
	return out, nil
}

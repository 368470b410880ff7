package person

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// ReadCustomFields returns custom texts and dates of persons by their names. It also returns
// the names that no person in the tenant has.
func (h *Handler) ReadCustomFields(ctx context.Context, req *commonsv1.ReadCustomFieldsRequest) (*commonsv1.ReadCustomFieldsResponse, error) {
	tenantID := tenant.Of(ctx)
	out := &commonsv1.ReadCustomFieldsResponse{}
	unknown, err := h.pool.Query(ctx, `SELECT n FROM unnest($2::text[]) AS n
		WHERE NOT EXISTS (SELECT FROM custom_data d WHERE d.tenant_id = $1 AND d.type_name = n)
		  AND NOT EXISTS (SELECT FROM custom_date d WHERE d.tenant_id = $1 AND d.type_name = n)`, tenantID, req.GetNames())
	if err != nil {
		return nil, fmt.Errorf("find custom fields: %w", err)
	}
	if out.Unknown, err = pgx.CollectRows(unknown, pgx.RowTo[string]); err != nil {
		return nil, fmt.Errorf("find custom fields: %w", err)
	}
	if len(req.GetPersonIds()) == 0 {
		return out, nil
	}
	out.Fields, err = pg.Collect(ctx, h.pool, func(row pgx.CollectableRow) (*commonsv1.PersonCustomField, error) {
		f := &commonsv1.PersonCustomField{}
		return f, row.Scan(&f.PersonId, &f.Name, &f.Value)
	}, `SELECT person_id, type_name, text FROM custom_data
			WHERE tenant_id = $1 AND person_id = ANY($2) AND type_name = ANY($3)
		UNION ALL SELECT person_id, type_name, date::text FROM custom_date
			WHERE tenant_id = $1 AND person_id = ANY($2) AND type_name = ANY($3)`, tenantID, req.GetPersonIds(), req.GetNames())
	if err != nil {
		return nil, fmt.Errorf("read custom fields: %w", err)
	}
	return out, nil
}

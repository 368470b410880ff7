package employmentterm

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/replica"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Topic is the terms, for those who keep copies of them.
func Topic() replica.Topic {
	return replica.Topic{
		Event: &schedulingv1.EmploymentTermChanged{}, Tenants: replica.TenantsQuery("employment_term"),
		Marks:  `SELECT id AS key, version AS mark FROM employment_term WHERE tenant_id = $1 AND id > $2 AND id <= $3`,
		States: states,
	}
}

// The lock keeps the version from growing before it is raised.
const readForUpdate = `SELECT id, version, body FROM employment_term WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE`

func states(ctx context.Context, tx pgx.Tx, tenantID int64, wanted []replica.Gap) ([]proto.Message, error) {
	terms, err := collect(ctx, tx, readForUpdate, tenantID, replica.Keys(wanted))
	if err != nil {
		return nil, fmt.Errorf("read employment terms: %w", err)
	}
	byID := make(map[int64]row, len(terms))
	for _, t := range terms {
		byID[t.id] = t
	}
	events := make([]proto.Message, len(wanted))
	for i, w := range wanted {
		t, known := byID[w.Key]
		if !known {
			events[i] = &schedulingv1.EmploymentTermChanged{Id: w.Key, Version: w.Version + 1, Deleted: true}
			continue
		}
		if raised := w.NextVersion(t.version); raised != t.version {
			t.version = raised
			if _, err := tx.Exec(ctx, `UPDATE employment_term SET version = $3 WHERE tenant_id = $1 AND id = $2`, tenantID, t.id, raised); err != nil {
				return nil, fmt.Errorf("raise the version of employment term %d: %w", t.id, err)
			}
		}
		events[i] = t.changed(false)
	}
	return events, nil
}

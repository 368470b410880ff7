package employmentterm

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Topic describes the terms for services that keep copies.
func Topic() replica.Topic {
	return replica.Topic{
		Event: &schedulingv1.EmploymentTermChanged{}, Tenants: replica.TenantsQuery("employment_term"),
		Fingerprints: `SELECT id AS key, version AS mark FROM employment_term WHERE tenant_id = $1 AND id > $2 AND id <= $3`,
		States:       states,
	}
}

// The lock prevents changes of the version before it is raised.
const readForUpdate = `SELECT id, version, body FROM employment_term WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id FOR NO KEY UPDATE`

func states(ctx context.Context, tx pgx.Tx, gaps []replica.Gap) ([]proto.Message, error) {
	tenantID := tenant.Of(ctx)
	terms, err := collect(ctx, tx, readForUpdate, tenantID, replica.Keys(gaps))
	if err != nil {
		return nil, fmt.Errorf("read employment terms: %w", err)
	}
	byID := make(map[int64]row, len(terms))
	for _, t := range terms {
		byID[t.id] = t
	}
	events := make([]proto.Message, len(gaps))
	for i, w := range gaps {
		t, exists := byID[w.Key]
		if !exists {
			events[i] = &schedulingv1.EmploymentTermChanged{Id: w.Key, Version: w.Version + 1, Deleted: true}
			continue
		}
		if raised := w.NextVersion(t.version); raised != t.version {
			t.version = raised
			if _, err := tx.Exec(ctx, `UPDATE employment_term SET version = $3 WHERE tenant_id = $1 AND id = $2`, tenantID, t.id, raised); err != nil {
				return nil, fmt.Errorf("raise the version of employment term %d: %w", t.id, err)
			}
		}
		events[i] = t.changedEvent(false)
	}
	return events, nil
}

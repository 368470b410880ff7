package membership

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// Topic describes the assignments to terms for services that keep copies.
func Topic() replica.Topic {
	return replica.Topic{
		Event: &schedulingv1.MembershipsChanged{}, Tenants: replica.TenantsQuery("membership_head"),
		Fingerprints: `SELECT employee_id AS key, version AS mark FROM membership_head
			WHERE tenant_id = $1 AND employee_id > $2 AND employee_id <= $3 AND version > 0`,
		States: states,
	}
}

// personsPerEvent is the number of persons in an event, each with all assignments.
const personsPerEvent = 100

func states(ctx context.Context, tx pgx.Tx, gaps []replica.Gap) ([]proto.Message, error) {
	now, err := lock(ctx, tx, replica.Keys(gaps))
	if err != nil {
		return nil, err
	}
	var raised, versions []int64
	lists := make([]*schedulingv1.PersonMemberships, len(gaps))
	for i, w := range gaps {
		h := now[w.Key]
		if h.version == 0 { // The person was never on a term.
			lists[i] = &schedulingv1.PersonMemberships{PersonId: w.Key, Version: w.Version + 1, Deleted: true}
			continue
		}
		if version := w.NextVersion(h.version); version != h.version {
			h.version = version
			raised, versions = append(raised, w.Key), append(versions, version)
		}
		lists[i] = h.state(w.Key)
	}
	if len(raised) > 0 {
		if _, err := tx.Exec(ctx, storeVersions, tenant.Of(ctx), raised, versions); err != nil {
			return nil, fmt.Errorf("raise versions of assignments: %w", err)
		}
	}
	var events []proto.Message
	for part := range slices.Chunk(lists, personsPerEvent) {
		events = append(events, &schedulingv1.MembershipsChanged{Persons: part})
	}
	return events, nil
}

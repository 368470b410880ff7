package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// Topic publishes the persons to services that keep copies of them.
func Topic() replica.Topic {
	return replica.Topic{
		Event: &commonsv1.PersonsChanged{}, Tenants: replica.TenantsQuery("person"),
		Fingerprints: `SELECT id AS key, version AS mark FROM person WHERE tenant_id = $1 AND id > $2 AND id <= $3`,
		States:       backfill,
	}
}

// eventBatch is the number of persons in an event.
const eventBatch = 100

// deletedZone is the time zone of deleted persons.
const deletedZone = "UTC"

func backfill(ctx context.Context, tx pgx.Tx, wanted []replica.Gap) ([]proto.Message, error) {
	ids := replica.Keys(wanted)
	// Lock the rows first, so that they cannot change before their version is raised.
	versions := make([]int64, len(wanted))
	for i, w := range wanted {
		versions[i] = w.Version
	}
	if _, err := tx.Exec(ctx, `UPDATE person p SET version = q.version + 1 FROM unnest($2::bigint[], $3::bigint[]) AS q (id, version)
		WHERE p.tenant_id = $1 AND p.id = q.id AND p.version < q.version`, tenant.Of(ctx), ids, versions); err != nil {
		return nil, fmt.Errorf("raise versions of persons: %w", err)
	}
	found, err := ReadStates(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]*commonsv1.PersonState, len(found))
	for _, s := range found {
		byID[s.GetPersonId()] = s
	}
	all := make([]*commonsv1.PersonState, len(wanted))
	for i, w := range wanted {
		if all[i] = byID[w.Key]; all[i] == nil {
			all[i] = &commonsv1.PersonState{PersonId: w.Key, Version: w.Version + 1, TimeZone: deletedZone, Deleted: true}
		}
	}
	var events []proto.Message
	for part := range slices.Chunk(all, eventBatch) {
		events = append(events, &commonsv1.PersonsChanged{Persons: part})
	}
	return events, nil
}

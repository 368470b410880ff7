// Package persontest adds persons to timekeeping's projection for tests.
package persontest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

const seeding pg.Unaudited = "a test has persons of whom no event told"

// Add stores persons for the tenant of a context. Their time zone is Berlin, and person 7 has the
// number T-7.
func Add(ctx context.Context, t testing.TB, pool *pg.Pool, ids ...int64) {
	t.Helper()
	tenantID := tenant.Of(ctx)
	_, err := seeding.Exec(ctx, pool, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone)
		SELECT $1, n, 'T-' || n, 'Somebody', 'Europe/Berlin' FROM unnest($2::bigint[]) AS n`, tenantID, ids)
	require.NoError(t, err)
}

// NobodyElse simulates a commons service that has no persons beyond the projection.
type NobodyElse struct{ commonsv1.PersonServiceClient }

// ResolvePersons returns no persons.
func (NobodyElse) ResolvePersons(context.Context, *commonsv1.ResolvePersonsRequest, ...grpc.CallOption) (*commonsv1.ResolvePersonsResponse, error) {
	return &commonsv1.ResolvePersonsResponse{}, nil
}

// Package persontest gives tests the persons of timekeeping's copy.
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

// Add stores persons of the tenant of a context. They are in Berlin, and the number of
// person 7 is T-7.
func Add(ctx context.Context, t testing.TB, pool *pg.Pool, ids ...int64) {
	t.Helper()
	tenantID := tenant.Of(ctx)
	_, err := seeding.Exec(ctx, pool, `INSERT INTO person (tenant_id, id, person_number, full_name, time_zone)
		SELECT $1, n, 'T-' || n, 'Somebody', 'Europe/Berlin' FROM unnest($2::bigint[]) AS n`, tenantID, ids)
	require.NoError(t, err)
}

// NobodyElse is commons that knows no more persons than the copy does.
type NobodyElse struct{ commonsv1.PersonServiceClient }

// ResolvePersons returns nobody.
func (NobodyElse) ResolvePersons(context.Context, *commonsv1.ResolvePersonsRequest, ...grpc.CallOption) (*commonsv1.ResolvePersonsResponse, error) {
	return &commonsv1.ResolvePersonsResponse{}, nil
}

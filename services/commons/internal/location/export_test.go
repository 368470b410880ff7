package location

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
)

// PathsBelow returns every path that names, on a day, a location or what lies below it.
func PathsBelow(t require.TestingT, pool *pg.Pool, tenantID, locationID int64, day civil.Date) []string {
	rows, err := pool.Query(tenant.With(context.Background(), tenantID),
		`SELECT path FROM `+locationpath.PathsBelowSQL("$1", "$2", "$3")+` AS names`, tenantID, []int64{locationID}, day)
	require.NoError(t, err)
	paths, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return paths
}

package signoff_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/person/persontest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/pooltest"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/requested"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/signoff"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/timecardtest"
)

// The comparison of copies begins with the tenants that have sign-offs.
func TestTenantsWithSignoffsAreListed(t *testing.T) {
	t.Parallel()
	ctx := tenant.With(t.Context(), 1)
	pool := pooltest.New(t)
	persontest.Add(ctx, t, pool, 7)
	timecards := timecardtest.New(pool, timecardtest.Known{}, timecardtest.Noon(t, "2026-03-10"))
	handler := signoff.New(timecards.Signoffs, requested.New(person.NewDirectory(pool, nil, nil), nil))
	_, err := handler.SignOffTimecard(ctx, &timekeepingv1.SignOffTimecardRequest{
		Employee: &commonv1.Ref{Id: proto.Int64(7)}, StartDate: "2026-03-09", EndDate: "2026-03-09",
	})
	require.NoError(t, err)

	rows, err := pool.Query(tenant.All(t.Context()), signoff.Topic().Tenants)
	require.NoError(t, err)
	tenants, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	require.NoError(t, err)
	assert.Equal(t, []int64{1}, tenants)
}

package timekeeping_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/rotaloom/rotaloom/pkg/fault"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// stage asks for a run, which no worker begins.
func (b *fixture) stage(t *testing.T, tenantID int64, name string) error {
	t.Helper()
	_, err := b.staging.StagePayroll(inTenant(t, tenantID), &timekeepingv1.PayrollStagingRequest{
		ExecutionId: name, Employees: &commonv1.RefList{Ids: []int64{1}},
		DateRange: &timekeepingv1.PayrollDateRange{StartDateTime: "2026-03-01T00:00:00", EndDateTime: "2026-03-31T23:59:59"},
	})
	return err
}

// Of many runs that are asked for at once three are taken; another tenant has three of
// its own.
func TestAtMostThreeRunsGoOn(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	for tenantID := int64(1); tenantID <= 2; tenantID++ {
		var group errgroup.Group
		var refused atomic.Int32
		for i := range 8 {
			group.Go(func() error {
				err := b.stage(t, tenantID, fmt.Sprint("run-", i))
				if f := fault.FromError(err); err != nil && f.Status == http.StatusRequestEntityTooLarge {
					refused.Add(1)
					return nil
				}
				return err
			})
		}
		require.NoError(t, group.Wait())
		assert.EqualValues(t, 5, refused.Load())
	}
	_, err := b.pool.Exec(inTenant(t, 1), `UPDATE payroll_staging SET state = 'success', finished_at = now() WHERE tenant_id = 1 AND id = (SELECT min(id::text)::uuid FROM payroll_staging WHERE tenant_id = 1)`)
	require.NoError(t, err)
	require.NoError(t, b.stage(t, 1, "after one ended"))
	err = b.stage(t, 1, "and one more")
	require.Error(t, err)
	assert.Equal(t, "WRL-20912", fault.FromError(err).Code)
}

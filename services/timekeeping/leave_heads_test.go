package timekeeping_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

func TestOtherServicesSeeHowFarLeaveIsInAllTenants(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for tenantID, days := range map[int64]int{1: 1, 2: 2} {
		ctx := inTenant(t, tenantID)
		c := b.createCase(t, ctx)
		for i := range days {
			_, err := b.take(ctx, c, "", newEdit([]string{"2026-03-02", "2026-03-03"}[i], 8))
			require.NoError(t, err)
		}
	}
	var got [][3]int64
	req := &timekeepingv1.ListLeaveEditHeadsRequest{PageSize: 1}
	for more := true; more; {
		answer, err := b.leaveEdits.ListLeaveEditHeads(t.Context(), req)
		require.NoError(t, err)
		require.Len(t, answer.GetHeads(), 1)
		req.After, more = answer.GetHeads()[0], answer.GetMore()
		got = append(got, [3]int64{req.After.GetTenantId(), req.After.GetEmployeeId(), req.After.GetVersion()})
	}
	assert.Equal(t, [][3]int64{{1, 1, 1}, {2, 1, 2}}, got)
}

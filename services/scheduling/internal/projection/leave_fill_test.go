package projection

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

// manyLeave is timekeeping with several tenants.
type manyLeave struct {
	timekeepingv1.LeaveEditServiceClient
	has map[int64][]*timekeepingv1.EmployeeLeaveEdits // by tenant

	mu    sync.Mutex
	pages int
	asked []int64
}

func (m *manyLeave) ListLeaveEditHeads(_ context.Context, req *timekeepingv1.ListLeaveEditHeadsRequest, _ ...grpc.CallOption) (*timekeepingv1.ListLeaveEditHeadsResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pages++
	var heads []*timekeepingv1.LeaveEditHead
	for tenantID, list := range m.has {
		for _, e := range list {
			heads = append(heads, &timekeepingv1.LeaveEditHead{TenantId: tenantID, EmployeeId: e.GetEmployeeId(), Version: e.GetVersion()})
		}
	}
	order := func(a, b *timekeepingv1.LeaveEditHead) int {
		return cmp.Or(cmp.Compare(a.GetTenantId(), b.GetTenantId()), cmp.Compare(a.GetEmployeeId(), b.GetEmployeeId()))
	}
	slices.SortFunc(heads, order)
	heads = slices.DeleteFunc(heads, func(h *timekeepingv1.LeaveEditHead) bool { return order(h, req.GetAfter()) <= 0 })
	size := min(int(req.GetPageSize()), len(heads))
	return &timekeepingv1.ListLeaveEditHeadsResponse{Heads: heads[:size], More: size < len(heads)}, nil
}

func (m *manyLeave) ListEmployeeLeaveEdits(ctx context.Context, req *timekeepingv1.ListEmployeeLeaveEditsRequest, _ ...grpc.CallOption) (*timekeepingv1.ListEmployeeLeaveEditsResponse, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	tenantID, _ := tenant.From(ctx)
	answer := &timekeepingv1.ListEmployeeLeaveEditsResponse{}
	for _, e := range m.has[tenantID] {
		if slices.Contains(req.GetEmployeeIds(), e.GetEmployeeId()) {
			m.asked = append(m.asked, e.GetEmployeeId())
			answer.Employees = append(answer.Employees, e)
		}
	}
	return answer, nil
}

func TestANewDatabaseIsFilledWithLeaveEdits(t *testing.T) {
	w := newWorld(t)
	all := func(employee, version int64, edits ...*timekeepingv1.LeaveEditState) *timekeepingv1.EmployeeLeaveEdits {
		return &timekeepingv1.EmployeeLeaveEdits{EmployeeId: employee, Version: version, Complete: true, Edits: edits}
	}
	source := &manyLeave{has: map[int64][]*timekeepingv1.EmployeeLeaveEdits{
		1: {all(7, 3, leaveState(11, 3, "2026-03-02")), all(8, 1, leaveState(21, 1, "2026-03-02")), all(9, 2)},
		2: {all(7, 1, leaveState(31, 1, "2026-03-02"))},
	}}
	w.leaveAfter(leaveStep(8, 1, nil, leaveState(21, 1, "2026-03-02"))) // Heard of already.

	var group sync.WaitGroup
	for range 2 { // Two replicas start at once.
		group.Go(func() {
			_, err := fillLeaveEdits(t.Context(), w.pool, source, 2)
			assert.NoError(t, err)
		})
	}
	group.Wait()
	assert.Equal(t, 4, source.pages, "two pages each")
	assert.NotContains(t, source.asked, int64(8))
	stored := func(tenantID int64) (ids []int64) {
		require.NoError(t, w.pool.QueryRow(tenant.With(t.Context(), tenantID),
			`SELECT array_agg(id ORDER BY id) FROM leave_edit WHERE tenant_id = $1`, tenantID).Scan(&ids))
		return ids
	}
	assert.Equal(t, []int64{11, 21}, stored(1))
	assert.Equal(t, []int64{31}, stored(2))

	source.asked = nil
	filled, err := fillLeaveEdits(t.Context(), w.pool, source, 2)
	require.NoError(t, err)
	assert.Zero(t, filled, "a start that missed nothing asks for nobody")
	assert.Empty(t, source.asked)
	assert.Empty(t, w.leaveAfter(leaveStep(7, 4, []int64{11}))[11], "events go on from there")
}

package leavecasepolicy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/testkit/faulttest"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecase"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavecasepolicy"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/leavepolicy"
)

func TestGrants(t *testing.T) {
	t.Parallel()
	ctx, w := newFixture(t)
	type grant = timekeepingv1.LeaveGrant
	for _, c := range []struct {
		name     string
		employee int64
		status   string
		sent     *grant
		code     string // "" for one that leaves so many seconds
		left     int64
	}{
		{"days", withProfile, "Open", &grant{LeaveType: refByName("sick"), Amount: proto.Float64(2.5)}, "", 2.5 * 8 * 3600},
		{"nothing", withProfile, "Open", &grant{LeaveType: refByName("Sick"), Amount: proto.Float64(0)}, "", 0},
		{"the most", withProfile, "Open", &grant{LeaveType: refByName("Sick"), Amount: proto.Float64(3660)}, "", 3660 * 8 * 3600},
		{"without a profile", withoutProfile, "Open", &grant{LeaveType: refByName("Vacation"), Amount: proto.Float64(1)}, "", 8 * 3600},
		{"no type", withProfile, "Open", &grant{Amount: proto.Float64(1)}, leavepolicy.CodeMissing, 0},
		{"no amount", withProfile, "Open", &grant{LeaveType: refByName("Sick")}, leavecase.CodeGrantMissing, 0},
		{"a type of another profile", withProfile, "Open", &grant{LeaveType: refByName("Vacation"), Amount: proto.Float64(1)}, leavecasepolicy.CodeNotInProfile, 0},
		{"a type that is not enabled", withoutProfile, "Open", &grant{LeaveType: refByName("Unused"), Amount: proto.Float64(1)}, leavecasepolicy.CodeNotInProfile, 0},
		{"a submitted case", withProfile, "Submitted", &grant{LeaveType: refByName("Sick"), Amount: proto.Float64(1)}, leavecase.CodeSubmitted, 0},
		{"a closed case", withProfile, "Closed", &grant{LeaveType: refByName("Sick"), Amount: proto.Float64(1)}, leavecase.CodeClosed, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ref := w.newCase(ctx, t, c.employee, c.status)
			c.sent.LeaveCase = ref
			_, err := w.grants.GrantLeave(ctx, c.sent)
			faulttest.RequireCode(t, c.code, err)
			data, err := w.grants.GetLeaveGrantData(ctx, &timekeepingv1.GetLeaveGrantDataRequest{LeaveCaseId: ref.Id})
			require.NoError(t, err)
			var open []string
			granted := 0
			for _, item := range data.GetLeaveTypes() {
				open = append(open, item.GetLeaveType().GetName())
				if item.Amount != nil {
					granted++
					assert.Equal(t, c.left, item.GetLeftInSeconds())
				}
			}
			assert.Equal(t, map[int64][]string{withProfile: {"Sick"}, withoutProfile: {"Sick", "Vacation"}}[c.employee], open)
			assert.Equal(t, c.code == "", granted == 1)
		})
	}
	t.Run("again", func(t *testing.T) {
		t.Parallel()
		ref := w.newCase(ctx, t, withProfile, "Open")
		for _, amount := range []float64{3, 1} {
			_, err := w.grants.GrantLeave(ctx, &grant{LeaveCase: ref, LeaveType: refByName("Sick"), Amount: &amount})
			require.NoError(t, err)
		}
		data, err := w.grants.GetLeaveGrantData(ctx, &timekeepingv1.GetLeaveGrantDataRequest{LeaveCaseId: ref.Id})
		require.NoError(t, err)
		assert.InDelta(t, 1, data.GetLeaveTypes()[0].GetAmount(), 0, "the last amount holds")
	})
}

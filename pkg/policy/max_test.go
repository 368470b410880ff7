package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/rotaloom/rotaloom/pkg/policy"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

func TestMaxMatchesTheContract(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 56_000, policy.Max[*schedulingv1.ScheduleWhere]("employees * days"), "a limit that the method enforces")
	assert.Equal(t, 500, policy.Max[*schedulingv1.ReadShiftsWhere]("shifts"), "a limit that the interceptor enforces")
	assert.Panics(t, func() { policy.Max[*schedulingv1.ScheduleWhere]("shifts") }, "there is none")
}

func TestRangeMaxMatchesTheContract(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 10_000, policy.RangeMax[*commonsv1.MultiReadLocationsRequest]("count"))
	assert.Panics(t, func() { policy.RangeMax[*commonsv1.ExecuteHyperfindRequest]("threshold") }, "there is no greatest value")
	assert.Panics(t, func() { policy.RangeMax[*commonsv1.MultiReadLocationsRequest]("where") }, "there is no range")
	assert.Panics(t, func() { policy.RangeMax[*commonsv1.MultiReadLocationsRequest]("counts") }, "there is no field")
}

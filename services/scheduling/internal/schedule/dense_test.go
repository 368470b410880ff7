package schedule_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

// Employees whose ids lie close together are read as a range. What is shown is what reads
// of a few of them show, and nothing of those between them who are not asked for.
func TestARangeOfEmployeesIsReadAsEachOfThem(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	p := f.pattern(cycle(1, shift(1, "08:00", "16:00")))
	var asked []int64
	for id := int64(1); id <= 150; id++ {
		f.employee(id, "UTC")
		f.span(span{employee: id, from: "2025-03-01", to: "3000-01-01", pattern: p})
		switch id % 4 {
		case 0:
			f.lock(id, "2025-03-03", "2025-03-04")
		case 1:
			f.item(1_000+id, id, "SHIFT", "2025-03-03", "2025-03-03", entered("2025-03-03T18:00:00", "2025-03-03T20:00:00"))
		case 2:
			f.tombstone(entryID(t, id, "2025-03-03", 0, 0), id, "2025-03-03")
		}
		if id%3 != 0 {
			asked = append(asked, id)
		}
	}
	require.Len(t, asked, 100)
	read := func(ids []int64) []*schedulingv1.Shift {
		response, err := f.handler.MultiReadSchedule(f.Ctx, window("2025-03-03", "2025-03-04", onlyShifts(), ids...))
		require.NoError(t, err)
		return decode(t, response).GetShifts().GetShifts()
	}
	var want []*schedulingv1.Shift
	for few := range slices.Chunk(asked, 20) {
		want = append(want, read(few)...)
	}
	found := read(asked)
	require.Len(t, found, len(want))
	for i := range want {
		assert.Equal(t, want[i].String(), found[i].String())
	}

	// In any order, and somebody twice.
	slices.Reverse(asked)
	assert.ElementsMatch(t, names(want), names(read(append(asked, asked[0]))))

	// Who is not asked for does not matter to who may see those that are.
	own := schedtest.As(t.Context(), 1, rowvisibility.Own)
	_, err := f.handler.MultiReadSchedule(own, window("2025-03-03", "2025-03-04", onlyShifts(), asked...))
	assert.True(t, fault.HasCode(err, "WFS-103401"), "%v", err)
}

func names(shifts []*schedulingv1.Shift) []string {
	list := make([]string, len(shifts))
	for i, s := range shifts {
		list[i] = s.String()
	}
	return list
}

package schedule_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedtest"
)

// Employees whose ids lie close together are read as a range. The response equals the responses to
// reads of a few of them, and has nothing of the employees between them.
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
			f.item(1_000+id, id, "SHIFT", "2025-03-03", "2025-03-03", newShift("2025-03-03T18:00:00", "2025-03-03T20:00:00"))
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

	// in any order, and with one employee twice
	slices.Reverse(asked)
	assert.ElementsMatch(t, names(want), names(read(append(asked, asked[0]))))

	// Employees who are not requested do not affect callers who may see the requested ones.
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

// A search for many employees begins with the question whether anybody between them has a
// row of a kind. One row is enough, of whomever it is.
func TestOneRowIsFoundAmongManyEmployees(t *testing.T) {
	t.Parallel()
	const day, first, last, step = "2025-03-03", 1, 61, 3
	for name, put := range map[string]func(f *fixture, id int64){
		"a lock": func(f *fixture, id int64) { f.lock(id, day, "2025-03-04") },
		"an item": func(f *fixture, id int64) {
			f.item(1_000+id, id, "SHIFT", day, day, newShift(day+"T18:00:00", day+"T20:00:00"))
		},
		"a tombstone": func(f *fixture, id int64) { f.tombstone(entryID(f.t, id, day, 0, 0), id, day) },
		"leave":       func(f *fixture, id int64) { f.leaveEdit(1_000+id, id, day, "08:00", day, "10:00", 0, "") },
		"locked leave": func(f *fixture, id int64) {
			f.leaveEdit(1_000+id, id, day, "08:00", day, "10:00", 0, "")
			f.lock(id, day, "2025-03-04")
			f.keepLeave(id, day, "2025-03-04")
			f.Exec(f.t, "DELETE FROM leave_edit")
		},
	} {
		for _, who := range []int64{first, 31, last} {
			t.Run(fmt.Sprintf("%s of %d", name, who), func(t *testing.T) {
				t.Parallel()
				f := newFixture(t)
				p := f.pattern(cycle(1, shift(1, "08:00", "16:00")))
				var all []int64
				for id := int64(first); id <= last; id += step {
					f.employee(id, "UTC")
					f.span(span{employee: id, from: "2025-03-01", to: "3000-01-01", pattern: p})
					all = append(all, id)
				}
				untouched := f.read(window(day, day, onlyShifts(), who)).String()
				put(f, who)
				var want []string
				for _, id := range all {
					want = append(want, names(f.read(window(day, day, onlyShifts(), id)).GetShifts().GetShifts())...)
				}
				assert.NotEqual(t, untouched, f.read(window(day, day, onlyShifts(), who)).String(), "the row shows")
				assert.Equal(t, want, names(f.read(window(day, day, onlyShifts(), all...)).GetShifts().GetShifts()))
			})
		}
	}
}

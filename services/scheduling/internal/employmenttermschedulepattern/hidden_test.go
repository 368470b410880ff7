package employmenttermschedulepattern_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

// listHidden lists the hidden days of a response, with names for ids.
func listHidden(result *schedulingv1.GroupSchedulePatternResult, names map[int64]string) []string {
	out := []string{}
	for _, h := range result.GetHiddenDays() {
		out = append(out, fmt.Sprintf("%s under %s %s..%s", names[h.GetGroupSchedulePatternId()], names[h.GetHiddenById()], h.GetStartDate(), h.GetEndDate()))
	}
	return out
}

// A base rotation that changes stays below the special one that was put on it
// later, and the response says which days do not show it.
func TestAChangedBaseStaysBelow(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	base := w.create(t, newAssignment(warehouse, "2025-01-01", "")).GetId()
	names := map[int64]string{base: "base"}
	special := func(from, to string) (int64, []string) {
		response, err := w.client.ApplyCreateEmploymentTermSchedulePatterns(w.Ctx, creation(&schedulingv1.GroupSchedulePatternCreate{
			Override: proto.Bool(true), GroupSchedulePattern: newAssignment(warehouse, from, to),
		}))
		require.NoError(t, err)
		id := response.GetResults()[0].GetGroupSchedulePattern().GetId()
		names[id] = fmt.Sprint("special ", from)
		return id, listHidden(response.GetResults()[0], names)
	}
	xmas, reported := special("2025-12-24", "2025-12-26")
	assert.Equal(t, []string{"base under special 2025-12-24 2025-12-24..2025-12-26"}, reported)

	response, _, err := w.update(asOfBody("2025-06-02", bare(14), base), false)
	require.NoError(t, err)
	summer := response.GetResults()[0].GetGroupSchedulePattern().GetId()
	names[summer] = "summer"
	assert.Equal(t, []string{"summer under special 2025-12-24 2025-12-24..2025-12-26"}, listHidden(response.GetResults()[0], names))
	response, _, err = w.update(recreating(bare(7), summer), false)
	require.NoError(t, err)
	assert.Equal(t, []string{"summer under special 2025-12-24 2025-12-24..2025-12-26"}, listHidden(response.GetResults()[0], names))
	response, _, err = w.update(recreating(bare(7), base), false)
	require.NoError(t, err)
	assert.Empty(t, listHidden(response.GetResults()[0], names), "it ends in June")
	var order []int64
	require.NoError(t, w.Pool.QueryRow(w.Ctx, `
SELECT array_agg(id ORDER BY seq, id) FROM pattern_assignment WHERE believed_until = 'infinity'`).Scan(&order))
	assert.Equal(t, []int64{base, summer, xmas}, order)

	response, _, err = w.update(ending("2026-01-06", xmas), false)
	require.NoError(t, err)
	assert.Equal(t, []string{"summer under special 2025-12-24 2025-12-27..2026-01-06"}, listHidden(response.GetResults()[0], names), "only what comes to be hidden")
	_, reported = special("2026-01-01", "")
	assert.ElementsMatch(t, []string{
		"summer under special 2026-01-01 2026-01-01..", "special 2025-12-24 under special 2026-01-01 2026-01-01..2026-01-06",
	}, reported)
	response, _, err = w.update(ending("2026-03-31", base), false)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"base under special 2025-12-24 2025-12-24..2026-01-06", "base under special 2026-01-01 2026-01-01..2026-03-31",
	}, listHidden(response.GetResults()[0], names))
}

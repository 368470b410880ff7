package dataaccess

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

func TestTimeSeries(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	req := request([]int64{1, 2}, "A_DAY", "A_NUMBER")
	req.From.View = "EMP_TIME_SERIES"
	req.From.EmployeeSet.DateRange = &platformv1.DataDateRange{
		StartDate: "2026-03-06", EndDate: "2026-03-09",
		Options: &platformv1.DataDateRangeOptions{TimeIncrement: "WEEK"},
	}
	req.Options = &platformv1.DataOptions{TimeIncrementFormat: "LONG_DATERANGE"}
	nodes := b.mustAsk(t, req).GetData().GetChildren().GetNodes()
	require.Len(t, nodes, 4)
	assert.Equal(t, []string{"2026-03-07", "0.5"}, raws(nodes[0]))
	assert.Equal(t, []string{"2026-03-09", "1"}, raws(nodes[3]))
	assert.Equal(t, "2026-03-08", nodes[3].GetKey().GetFields()["DAY"].GetStringValue())
	day := nodes[3].GetCoreEntityKey().GetFields()["DAY"].GetStructValue().GetFields()
	assert.Equal(t, "3/08/2026 - 3/09/2026", day["qualifier"].GetStringValue())
	dates := req.From.EmployeeSet.DateRange
	dates.EndDate, dates.Options.TimeIncrement = "2026-03-10", "payperiod"
	nodes = b.mustAsk(t, req).GetData().GetChildren().GetNodes()
	require.Len(t, nodes, 4)
	assert.Equal(t, []string{"2026-03-09", "0.5"}, raws(nodes[0]))
	assert.Equal(t, []string{"2026-03-10", "0.5"}, raws(nodes[1]))
}

// Pages by cursor have the order of the ids and days, not the one of the request.
func TestPagesByCursorHaveEachRowAndDayOnce(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	req := request([]int64{3, 1, 2}, "A_DAY")
	req.From.View = "EMP_TIME_SERIES"
	req.From.EmployeeSet.DateRange = &platformv1.DataDateRange{StartDate: "2026-03-06", EndDate: "2026-03-07"}
	req.Count, req.After = new(int64(4)), new("")
	first := b.mustAsk(t, req)
	req.After = new(first.GetMetadata().GetNext())
	last := b.mustAsk(t, req)
	assert.Empty(t, last.GetMetadata().GetNext())
	var rows []string
	for _, node := range append(first.GetData().GetChildren().GetNodes(), last.GetData().GetChildren().GetNodes()...) {
		key := node.GetKey().GetFields()
		rows = append(rows, key["PEOPLE"].GetStringValue()+" "+key["DAY"].GetStringValue())
	}
	assert.Equal(t, []string{"1 2026-03-06", "1 2026-03-07", "2 2026-03-06", "2 2026-03-07", "3 2026-03-06", "3 2026-03-07"}, rows)
	assert.Len(t, first.GetData().GetChildren().GetNodes(), 4)
}

package targetthreshold

import (
	"strings"

	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

func evaluationPeriods() []*platformv1.EvaluationPeriod {
	return []*platformv1.EvaluationPeriod{
		{Id: "1", Name: "DAILY", ShortName: "D"}, {Id: "2", Name: "WEEKLY", ShortName: "W"}, {Id: "3", Name: "PAYPERIOD", ShortName: "P"},
	}
}

func operators() []*platformv1.ThresholdOperator {
	return []*platformv1.ThresholdOperator{
		{Id: 1, ThresholdOperator: "=", Description: "Equal to the value"},
		{Id: 2, ThresholdOperator: "<", Description: "Less than the value"},
		{Id: 3, ThresholdOperator: "<=", Description: "Not more than the value"},
		{Id: 4, ThresholdOperator: ">", Description: "More than the value"},
		{Id: 5, ThresholdOperator: ">=", Description: "Not less than the value"},
		{Id: 6, ThresholdOperator: "BETWEEN", Description: "From the value to the maximum, both included"},
	}
}

func indicatorTexts() []*platformv1.IndicatorText {
	return []*platformv1.IndicatorText{
		{Id: 1, ThresholdIndicatorText: "On target", Description: "As it should be"},
		{Id: 2, ThresholdIndicatorText: "Below target", Description: "Less than it should be"},
		{Id: 3, ThresholdIndicatorText: "Above target", Description: "More than it should be"},
	}
}

// metricSets returns the sets of values that timecard metrics add up, with their names in the API.
func metricSets() []*platformv1.MetricSet {
	amounts := []string{"hoursAmount", "daysAmount", "moneyAmount"}
	set := func(id int64, name, short string, columns []string, metrics ...string) *platformv1.MetricSet {
		return &platformv1.MetricSet{
			Id: id, Name: name, ShortName: short, Type: "STANDARD", DataColumns: strings.Join(columns, ","),
			AdjustmentSwitchRequired: "false", MetricsShortNames: strings.Join(metrics, ","),
		}
	}
	return []*platformv1.MetricSet{
		set(1, "Actual totals", "ACTUAL", amounts, "ACTUAL_TOTALS", "ACTUAL_TOTALS_ONLY_CORRECTIONS", "ACTUAL_TOTALS_EXCLUDE_CORRECTIONS", "DAILY_ACTUAL_TOTAL_SUMMARY"),
		set(2, "Worked shifts", "SHIFTS", amounts[:1], "SHIFT_ACTUAL_TOTAL_SUMMARY"),
		set(3, "Scheduled totals", "SCHEDULED", amounts[:1], "SCHEDULED_TOTALS"),
		set(4, "Exceptions", "EXCEPTIONS", []string{"count"}, "EXCEPTION_TOTAL"),
	}
}

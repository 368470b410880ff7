package employeeday

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

func TestAmountsOfPayCodeEdits(t *testing.T) {
	t.Parallel()
	day := civil.Date(20_000)
	name := func(text string) *commonv1.Ref { return &commonv1.Ref{Qualifier: &text} }
	for _, c := range []struct {
		name string
		last civil.Date
		edit *schedulingv1.PayCodeEdit
		want *schedulingv1.PayCodeAmount
	}{
		{"seconds", day + 1, &schedulingv1.PayCodeEdit{DurationInTime: proto.Int64(90)}, &schedulingv1.PayCodeAmount{Seconds: 90}},
		{"hours and minutes", day, &schedulingv1.PayCodeEdit{DurationInMinutes: "36:05"}, &schedulingv1.PayCodeAmount{Seconds: 36*3600 + 300}},
		{"times", day + 1, &schedulingv1.PayCodeEdit{StartTime: "06:00:00", EndTime: "07:00:00"}, &schedulingv1.PayCodeAmount{StartSecond: 21600, EndSecond: 25200}},
		{"a night", day, &schedulingv1.PayCodeEdit{StartTime: "22:00:00", EndTime: "06:00:00"}, &schedulingv1.PayCodeAmount{StartSecond: 79200, EndSecond: 108000}},
		{"a day", day, &schedulingv1.PayCodeEdit{SymbolicValueRef: name("FULL_DAY"), StartTime: "08:00:00"}, &schedulingv1.PayCodeAmount{Halves: 2}},
		{"half a day", day, &schedulingv1.PayCodeEdit{SymbolicValueRef: name("HALF_DAY")}, &schedulingv1.PayCodeAmount{Halves: 1}},
		{"days", day, &schedulingv1.PayCodeEdit{DurationInDays: proto.Float64(0.25)}, &schedulingv1.PayCodeAmount{Days: 2500}},
		{"money", day, &schedulingv1.PayCodeEdit{MoneyAmount: proto.Float64(-12.3456)}, &schedulingv1.PayCodeAmount{Money: -123456}},
		{"money of a currency", day, &schedulingv1.PayCodeEdit{MoneyCurrencyAmount: &schedulingv1.CurrencyAmount{Amount: proto.Float64(0.1)}}, &schedulingv1.PayCodeAmount{Money: 1000}},
		{"too much money", day, &schedulingv1.PayCodeEdit{MoneyAmount: proto.Float64(1e300)}, &schedulingv1.PayCodeAmount{}},
		{"no money", day, &schedulingv1.PayCodeEdit{MoneyCurrencyAmount: &schedulingv1.CurrencyAmount{}}, &schedulingv1.PayCodeAmount{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.edit.PayCodeRef, c.want.PayCodeId = &commonv1.Ref{Id: proto.Int64(3)}, 3
			last := max(c.last, day)
			if c.want.GetEndSecond() > civil.SecondsPerDay {
				last = day + 1 // As the schedule shows it.
			}
			got, err := convertEdits([]reading.DayEdit{{ID: 4, First: day, Last: last, Edit: c.edit}}, civil.Range{From: day - 5, To: day + 5}, nil)
			require.NoError(t, err)
			var want []*schedulingv1.EmployeePayCodeEdit
			for on := day; on <= max(c.last, day); on++ {
				want = append(want, &schedulingv1.EmployeePayCodeEdit{Day: int32(on), Amount: c.want})
			}
			require.Len(t, got, len(want))
			for i := range want {
				assert.True(t, proto.Equal(want[i], got[i]), "%v\n%v", want[i], got[i])
			}
		})
	}
}

package table

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
)

// The columns of the tests; the last cell of each has no value.
func numbers() *Column {
	return &Column{Key: "N", Kind: dataelement.Number, Present: []bool{true, true, true, false}, Numbers: []float64{1, 2.5, -3, 0}}
}

func texts() *Column {
	return &Column{Key: "T", Kind: dataelement.String, Present: []bool{true, true, true, false}, Texts: []string{"Alpha", "beta", "Gamma", ""}}
}

func flags() *Column {
	return &Column{Key: "B", Kind: dataelement.Boolean, Present: []bool{true, true, false}, Integers: []int64{1, 0, 0}}
}

func dates() *Column {
	day := int64(civil.Of(2026, 3, 2))
	return &Column{Key: "D", Kind: dataelement.Date, Present: []bool{true, true, false}, Integers: []int64{day, day + 1, 0}}
}

func TestEveryOperator(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		column   *Column
		operator string
		values   []string
		want     []int32
	}{
		{numbers(), "EQUAL_TO", []string{"2.5"}, []int32{1}},
		{numbers(), "not_equal_to", []string{"2.5"}, []int32{0, 2}},
		{numbers(), "GREATER_THAN", []string{"1"}, []int32{1}},
		{numbers(), "LESS_THAN", []string{"1"}, []int32{2}},
		{numbers(), "GREATER_THAN_OR_EQUAL_TO", []string{"1"}, []int32{0, 1}},
		{numbers(), "LESS_THAN_OR_EQUAL_TO", []string{"1"}, []int32{0, 2}},
		{numbers(), "IS_NULL", nil, []int32{3}},
		{numbers(), "IS_NULL", []string{""}, []int32{3}},
		{numbers(), "IS_NOT_NULL", nil, []int32{0, 1, 2}},
		{numbers(), "BETWEEN", []string{"1", "2.5"}, []int32{0, 1}},
		{numbers(), "NOT_BETWEEN", []string{"1", "2.5"}, []int32{2}},
		{dates(), "GREATER_THAN", []string{"2026-03-02"}, []int32{1}},
		{flags(), "ALL", nil, []int32{0, 1, 2}},
		{flags(), "YES", nil, []int32{0}},
		{flags(), "NO", nil, []int32{1}},
		{texts(), "STARTS_WITH", []string{"al"}, []int32{0}},
		{texts(), "NOT_STARTS", []string{"al"}, []int32{1, 2}},
		{texts(), "LIKE", []string{"M"}, []int32{2}},
		{texts(), "LIKE", []string{"%a%h"}, []int32{0}},
		{texts(), "NOT_LIKE", []string{"et"}, []int32{0, 2}},
		{texts(), "IN", []string{"BETA", "gamma", "delta"}, []int32{1, 2}},
		{texts(), "NOT_IN", []string{"beta"}, []int32{0, 2}},
		{texts(), "EQUAL_TO", []string{"alpha"}, []int32{0}},
		{texts(), "NOT_EQUAL_TO", []string{"alpha"}, []int32{1, 2}},
		{texts(), "IS_NULL", nil, []int32{3}},
		{texts(), "IS_NOT_NULL", nil, []int32{0, 1, 2}},
		{texts(), "BETWEEN", []string{"b", "c"}, []int32{1}},
		{texts(), "NOT_BETWEEN", []string{"b", "c"}, []int32{0, 2}},
	} {
		t.Run(c.operator, func(t *testing.T) {
			made, err := newFilter("where", &platformv1.DataFilter{Key: c.column.Key, Operator: c.operator, RawValues: c.values}, c.column)
			require.NoError(t, err, c.operator)
			table := New([]*Column{c.column}, len(c.column.Present), 1)
			table.filterNodes([]*filter{made})
			assert.Equal(t, c.want, table.Nodes, "%s %v", c.operator, c.values)
		})
	}
}

func TestFiltersThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		column   *Column
		operator string
		values   []string
	}{
		{numbers(), "LIKE", []string{"1"}},
		{numbers(), "YES", nil},
		{numbers(), "EQUAL_TO", nil},
		{numbers(), "EQUAL_TO", []string{"1", "2"}},
		{numbers(), "EQUAL_TO", []string{"one"}},
		{numbers(), "LESS_THAN", []string{"NaN"}},
		{numbers(), "IS_NULL", []string{"1", "2"}},
		{numbers(), "BETWEEN", []string{"1"}},
		{dates(), "EQUAL_TO", []string{"1/02/2026"}},
		{flags(), "EQUAL_TO", []string{"true"}},
		{flags(), "YES", []string{"true"}},
		{flags(), "IS_NULL", nil},
		{texts(), "GREATER_THAN", []string{"a"}},
		{texts(), "IN", nil},
		{texts(), "IN", make([]string, manyValues+1)},
		{texts(), "", []string{"a"}},
	} {
		t.Run(fmt.Sprintf("%s %s of %d values", c.column.Key, c.operator, len(c.values)), func(t *testing.T) {
			t.Parallel()
			_, err := newFilter("where", &platformv1.DataFilter{Operator: c.operator, Values: c.values}, c.column)
			assert.Error(t, err)
		})
	}
}

func TestFiltersHaveTheirValuesAtOnePlace(t *testing.T) {
	t.Parallel()
	text := structpb.NewStringValue
	list := func(values ...*structpb.Value) *structpb.Value {
		return structpb.NewListValue(&structpb.ListValue{Values: values})
	}
	for _, c := range []struct {
		name   string
		filter *platformv1.DataFilter
		want   []string
		fails  bool
	}{
		{name: "values", filter: &platformv1.DataFilter{Values: []string{"a"}}, want: []string{"a"}},
		{name: "values and raw values", filter: &platformv1.DataFilter{Values: []string{"a"}, RawValues: []string{"b"}}, want: []string{"b"}},
		{name: "a text", filter: &platformv1.DataFilter{Value: text("a")}, want: []string{"a"}},
		{name: "a boolean", filter: &platformv1.DataFilter{Value: structpb.NewBoolValue(true)}, want: []string{"true"}},
		{name: "a list", filter: &platformv1.DataFilter{Value: list(text("a"), text("2.50"))}, want: []string{"a", "2.50"}},
		{name: "null beside values", filter: &platformv1.DataFilter{Values: []string{"a"}, Value: structpb.NewNullValue()}, want: []string{"a"}},
		{name: "a value beside values", filter: &platformv1.DataFilter{Values: []string{"a"}, Value: text("a")}, fails: true},
		{name: "an object", filter: &platformv1.DataFilter{Value: structpb.NewStructValue(&structpb.Struct{})}, fails: true},
		{name: "a list in a list", filter: &platformv1.DataFilter{Value: list(list(text("a")))}, fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			values, err := filterValues("where", c.filter)
			if c.fails {
				assert.Error(t, err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, values)
		})
	}
}

func TestForms(t *testing.T) {
	t.Parallel()
	day := int64(civil.Of(2021, 5, 3))
	for _, c := range []struct {
		column     Column
		raw, value string
	}{
		{Column{Kind: dataelement.String, Texts: []string{"Ä b"}}, "Ä b", "Ä b"},
		{Column{Kind: dataelement.Number, Numbers: []float64{7.256}}, "7.256", "7.26"},
		{Column{Kind: dataelement.Long, Integers: []int64{-4}}, "-4", "-4"},
		{Column{Kind: dataelement.Boolean, Integers: []int64{1}}, "true", "true"},
		{Column{Kind: dataelement.Date, Integers: []int64{day}}, "2021-05-03", "5/03/2021"},
		{Column{Kind: dataelement.DateTime, Integers: []int64{day*civil.SecondsPerDay + 13*3600 + 300}}, "2021-05-03T13:05:00", "5/03/2021 1:05 PM"},
		{Column{Kind: dataelement.DateTime, Integers: []int64{-1}}, "1969-12-31T23:59:59", "12/31/1969 11:59 PM"},
		{Column{Kind: dataelement.Time, Integers: []int64{1800}}, "00:30:00", "12:30 AM"},
	} {
		t.Run(c.value, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.raw, string(c.column.AppendRaw(nil, 0)))
			assert.Equal(t, c.value, string(c.column.AppendValue(nil, 0)))
		})
	}
}

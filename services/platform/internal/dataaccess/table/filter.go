package table

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/suggest"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/platform/internal/dataaccess/errcode"
)

// filter selects cells of a column.
type filter struct {
	column *Column
	// fits tests a value; absent is the result for a cell without a value.
	fits   func(cell int32) bool
	absent bool
}

func (f *filter) matches(cell int32) bool {
	if !f.column.Present[cell] {
		return f.absent
	}
	return f.fits(cell)
}

// arity is the number of values that an operator accepts, from least to most.
type arity struct{ least, most int }

const manyValues = 1000

// newFilter parses a filter. A cell without a value matches only IS_NULL and ALL.
func newFilter(path string, f *platformv1.DataFilter, c *Column) (*filter, error) {
	values, err := filterValues(path, f)
	if err != nil {
		return nil, err
	}
	operator := strings.ToUpper(f.GetOperator())
	out := &filter{column: c, absent: operator == "IS_NULL" || operator == "ALL"}
	takes, make := out.operator(operator)
	if make == nil {
		return nil, errcode.Invalid(errcode.CodeBadRequest, "%s: the operator %q is not supported for the type of %s.%s",
			path, errcode.Shorten(f.GetOperator()), c.Key, suggest.Hint(operator, out.operatorNames))
	}
	if len(values) < takes.least || len(values) > takes.most {
		return nil, errcode.Invalid(errcode.CodeBadRequest, "%s: %s does not take %d values.", path, operator, len(values))
	}
	out.fits, err = make(values)
	if err != nil {
		return nil, errcode.Invalid(errcode.CodeBadRequest, "%s: invalid value for %s: %s.", path, operator, err)
	}
	return out, nil
}

// filterValues returns the values of a filter, from the property that contains them.
func filterValues(path string, f *platformv1.DataFilter) ([]string, error) {
	values := f.GetValues()
	if len(f.GetRawValues()) > 0 {
		values = f.GetRawValues()
	}
	var sent []*structpb.Value
	switch v := f.GetValue().GetKind().(type) {
	case nil, *structpb.Value_NullValue:
		return values, nil
	case *structpb.Value_ListValue:
		sent = v.ListValue.GetValues()
	default:
		sent = []*structpb.Value{f.GetValue()}
	}
	if len(values) > 0 {
		return nil, errcode.Invalid(errcode.CodeBadRequest, "%s: give value or values, not both.", path)
	}
	for _, one := range sent {
		switch v := one.GetKind().(type) {
		case *structpb.Value_StringValue: // Numbers are also texts here, exactly as sent.
			values = append(values, v.StringValue)
		case *structpb.Value_BoolValue:
			values = append(values, strconv.FormatBool(v.BoolValue))
		default:
			return nil, errcode.Invalid(errcode.CodeBadRequest, "%s: value must be a text, a number, a boolean, or a list of these.", path)
		}
	}
	return values, nil
}

// testMaker creates the test of an operator from its values.
type testMaker func(values []string) (func(cell int32) bool, error)

func (f *filter) operator(name string) (arity, testMaker) {
	always := func(is bool) testMaker {
		return func([]string) (func(int32) bool, error) { return func(int32) bool { return is }, nil }
	}
	// The reference product's schema permits a value for the null tests.
	switch {
	case f.column.Kind == dataelement.Boolean:
		return arity{0, 0}, f.booleanTest(name)
	case name == "IS_NULL":
		return arity{0, 1}, always(false)
	case name == "IS_NOT_NULL":
		return arity{0, 1}, always(true)
	}
	switch f.column.Kind {
	case dataelement.String:
		return f.textTest(name)
	default:
		return f.orderedTest(name)
	}
}

// operatorNames yields the operators of the filter's column.
func (f *filter) operatorNames(yield func(string) bool) {
	for _, name := range []string{
		"ALL", "YES", "NO", "IS_NULL", "IS_NOT_NULL", "EQUAL_TO", "NOT_EQUAL_TO", "STARTS_WITH", "NOT_STARTS", "LIKE", "NOT_LIKE", "IN", "NOT_IN",
		"BETWEEN", "NOT_BETWEEN", "GREATER_THAN", "LESS_THAN", "GREATER_THAN_OR_EQUAL_TO", "LESS_THAN_OR_EQUAL_TO",
	} {
		if _, test := f.operator(name); test != nil && !yield(name) {
			return
		}
	}
}

func (f *filter) booleanTest(name string) testMaker {
	c := f.column
	test := func(fits func(int32) bool) testMaker {
		return func([]string) (func(int32) bool, error) { return fits, nil }
	}
	switch name {
	case "ALL":
		return test(func(int32) bool { return true })
	case "YES":
		return test(func(cell int32) bool { return c.Integers[cell] != 0 })
	case "NO":
		return test(func(cell int32) bool { return c.Integers[cell] == 0 })
	}
	return nil
}

// textTest returns the operators for texts, which ignore case.
func (f *filter) textTest(name string) (arity, testMaker) {
	c := f.column
	one := func(fits func(text, value string) bool) (arity, testMaker) {
		return arity{1, 1}, func(values []string) (func(int32) bool, error) {
			value := strings.ToLower(values[0])
			return func(cell int32) bool { return fits(strings.ToLower(c.Texts[cell]), value) }, nil
		}
	}
	several := func(takes arity, fits func(text string, values []string) bool) (arity, testMaker) {
		return takes, func(values []string) (func(int32) bool, error) {
			lower := make([]string, len(values))
			for i, v := range values {
				lower[i] = strings.ToLower(v)
			}
			return func(cell int32) bool { return fits(strings.ToLower(c.Texts[cell]), lower) }, nil
		}
	}
	between := func(text string, v []string) bool { return v[0] <= text && text <= v[1] }
	among := func(text string, v []string) bool { return slices.Contains(v, text) }
	switch name {
	case "EQUAL_TO":
		return one(func(text, value string) bool { return text == value })
	case "NOT_EQUAL_TO":
		return one(func(text, value string) bool { return text != value })
	case "STARTS_WITH":
		return one(strings.HasPrefix)
	case "NOT_STARTS":
		return one(func(text, value string) bool { return !strings.HasPrefix(text, value) })
	case "LIKE":
		return one(matchesPattern)
	case "NOT_LIKE":
		return one(func(text, value string) bool { return !matchesPattern(text, value) })
	case "IN":
		return several(arity{1, manyValues}, among)
	case "NOT_IN":
		return several(arity{1, manyValues}, func(text string, v []string) bool { return !among(text, v) })
	case "BETWEEN":
		return several(arity{2, 2}, between)
	case "NOT_BETWEEN":
		return several(arity{2, 2}, func(text string, v []string) bool { return !between(text, v) })
	}
	return arity{}, nil
}

// matchesPattern reports whether a text contains a value. Percent signs in the value match any text.
func matchesPattern(text, value string) bool {
	for part := range strings.SplitSeq(value, "%") {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

// orderedTest returns the operators for numbers, dates and times.
func (f *filter) orderedTest(name string) (arity, testMaker) {
	tests := map[string]struct {
		takes int
		fits  func(value float64, bounds []float64) bool
	}{
		"EQUAL_TO":                 {1, func(v float64, b []float64) bool { return v == b[0] }},
		"NOT_EQUAL_TO":             {1, func(v float64, b []float64) bool { return v != b[0] }},
		"GREATER_THAN":             {1, func(v float64, b []float64) bool { return v > b[0] }},
		"LESS_THAN":                {1, func(v float64, b []float64) bool { return v < b[0] }},
		"GREATER_THAN_OR_EQUAL_TO": {1, func(v float64, b []float64) bool { return v >= b[0] }},
		"LESS_THAN_OR_EQUAL_TO":    {1, func(v float64, b []float64) bool { return v <= b[0] }},
		"BETWEEN":                  {2, func(v float64, b []float64) bool { return b[0] <= v && v <= b[1] }},
		"NOT_BETWEEN":              {2, func(v float64, b []float64) bool { return v < b[0] || b[1] < v }},
	}
	test, known := tests[name]
	if !known {
		return arity{}, nil
	}
	c := f.column
	return arity{test.takes, test.takes}, func(values []string) (func(int32) bool, error) {
		bounds := make([]float64, len(values))
		for i, text := range values {
			v, err := parseOrdered(c.Kind, text)
			if err != nil {
				return nil, err
			}
			bounds[i] = v
		}
		return func(cell int32) bool { return test.fits(c.number(cell), bounds) }, nil
	}
}

// parseOrdered parses a value in its neutral form.
func parseOrdered(kind dataelement.Type, text string) (float64, error) {
	switch kind {
	case dataelement.Date:
		day, err := civil.ParseDate(text)
		return float64(day), err
	case dataelement.DateTime:
		at, err := civil.ParseDateTime(text)
		return float64(at.Date)*civil.SecondsPerDay + float64(at.Seconds), err
	case dataelement.Time:
		clock, err := civil.ParseTimeOfDay(text)
		return float64(clock), err
	}
	if hours, ok := parseHours(text); ok && kind == dataelement.Number {
		return hours, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", errcode.Shorten(text))
	}
	return v, nil
}

// hoursForm matches a number of hours as clients of the reference product write it, HH:MM.
var hoursForm = regexp.MustCompile(`^(-?)(\d{1,5}):([0-5]\d)$`)

// parseHours parses a number of hours of the form HH:MM.
func parseHours(text string) (float64, bool) {
	parts := hoursForm.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	hours, err := strconv.Atoi(parts[2])
	minutes, errMinutes := strconv.Atoi(parts[3])
	if err != nil || errMinutes != nil {
		return 0, false
	}
	out := float64(hours*60+minutes) / 60
	if parts[1] == "-" {
		out = -out
	}
	return out, true
}

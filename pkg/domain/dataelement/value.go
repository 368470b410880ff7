package dataelement

import (
	"github.com/rotaloom/rotaloom/pkg/civil"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
)

// Type is the kind of the values of an element.
type Type = datav1.DataType

// The types of elements.
const (
	String   = datav1.DataType_DATA_TYPE_STRING
	Number   = datav1.DataType_DATA_TYPE_NUMBER
	Long     = datav1.DataType_DATA_TYPE_LONG
	Boolean  = datav1.DataType_DATA_TYPE_BOOLEAN
	Date     = datav1.DataType_DATA_TYPE_DATE
	DateTime = datav1.DataType_DATA_TYPE_DATETIME
	Time     = datav1.DataType_DATA_TYPE_TIME
)

// Value is one value of an element; the zero Value means no value. Create it with the function for
// the element's type.
type Value struct {
	text    string
	number  float64
	integer int64
	kind    Type
}

// Text returns a String value; an empty text means no value.
func Text(s string) Value {
	if s == "" {
		return Value{}
	}
	return Value{text: s, kind: String}
}

// Decimal returns a Number value.
func Decimal(f float64) Value { return Value{number: f, kind: Number} }

// Whole returns a Long value.
func Whole(n int64) Value { return Value{integer: n, kind: Long} }

// Bool returns a Boolean value.
func Bool(b bool) Value {
	v := Value{kind: Boolean}
	if b {
		v.integer = 1
	}
	return v
}

// Day returns a Date value.
func Day(d civil.Date) Value { return Value{integer: int64(d), kind: Date} }

// LastDay returns the last day of a range, or forever if the range has no end.
func LastDay(days civil.Range) civil.Date {
	if days.To >= civil.Forever {
		return civil.Forever
	}
	return days.To - 1
}

// Moment returns a DateTime value, in clock-face seconds since the midnight of 1970-01-01.
func Moment(seconds int64) Value { return Value{integer: seconds, kind: DateTime} }

// Clock returns a Time value, in seconds since midnight.
func Clock(seconds int64) Value { return Value{integer: seconds, kind: Time} }

// None reports whether the value is missing.
func (v Value) None() bool { return v.kind == datav1.DataType_DATA_TYPE_UNSPECIFIED }

// Type returns the type of the value.
func (v Value) Type() Type { return v.kind }

// column collects values.
type column struct {
	out   *datav1.DataColumn
	count int
}

func (c *column) add(v Value) {
	if c.count%8 == 0 {
		c.out.Present = append(c.out.Present, 0)
	}
	if !v.None() {
		c.out.Present[c.count/8] |= 1 << (c.count % 8)
		switch v.kind {
		case String:
			c.out.Texts = append(c.out.Texts, v.text)
		case Number:
			c.out.Numbers = append(c.out.Numbers, v.number)
		default:
			c.out.Integers = append(c.out.Integers, v.integer)
		}
	}
	c.count++
}

// Present reports whether a column has the value at a position.
func Present(c *datav1.DataColumn, at int) bool {
	return at/8 < len(c.GetPresent()) && c.GetPresent()[at/8]&(1<<(at%8)) != 0
}

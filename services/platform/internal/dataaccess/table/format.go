package table

import (
	"math"
	"strconv"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
)

// AppendRaw appends the neutral form of a value.
func (c *Column) AppendRaw(dst []byte, cell int32) []byte {
	switch c.Kind {
	case dataelement.String:
		return append(dst, c.Texts[cell]...)
	case dataelement.Number:
		return appendNumber(dst, c.Numbers[cell])
	case dataelement.Boolean:
		return strconv.AppendBool(dst, c.Integers[cell] != 0)
	case dataelement.Date:
		return civil.Date(c.Integers[cell]).Append(dst)
	case dataelement.DateTime:
		return toDateTime(c.Integers[cell]).Append(dst)
	case dataelement.Time:
		return civil.TimeOfDay(c.Integers[cell]).Append(dst)
	}
	return strconv.AppendInt(dst, c.Integers[cell], 10)
}

// AppendValue appends the display form of a value, in the reference product's first locale.
func (c *Column) AppendValue(dst []byte, cell int32) []byte {
	switch c.Kind {
	case dataelement.Number:
		return appendNumber(dst, math.Round(c.Numbers[cell]*100)/100)
	case dataelement.Date:
		return civil.Date(c.Integers[cell]).Time().AppendFormat(dst, "1/02/2006")
	case dataelement.DateTime:
		at := toDateTime(c.Integers[cell])
		return appendClock(append(at.Date.Time().AppendFormat(dst, "1/02/2006"), ' '), int64(at.Seconds))
	case dataelement.Time:
		return appendClock(dst, c.Integers[cell])
	}
	return c.AppendRaw(dst, cell)
}

func appendNumber(dst []byte, f float64) []byte { return strconv.AppendFloat(dst, f, 'f', -1, 64) }

// appendClock appends a time of day as "3:04 PM".
func appendClock(dst []byte, seconds int64) []byte {
	hour, minute := seconds/3600%24, seconds/60%60
	dst = strconv.AppendInt(dst, (hour+11)%12+1, 10)
	dst = append(dst, ':', byte('0'+minute/10), byte('0'+minute%10), ' ')
	if hour < 12 {
		return append(dst, "AM"...)
	}
	return append(dst, "PM"...)
}

// toDateTime returns the date and time of clock-face seconds since 1970-01-01.
func toDateTime(seconds int64) civil.DateTime {
	day := seconds / civil.SecondsPerDay
	if seconds%civil.SecondsPerDay < 0 {
		day--
	}
	return civil.Date(day).At(int32(seconds - day*civil.SecondsPerDay))
}

package worktime

import "github.com/rotaloom/rotaloom/pkg/civil"

// Interval is a period of wall-clock time, in seconds after the midnight that begins its day.
type Interval struct {
	Day        civil.Date
	Start, End int32
}

// Edit books time on a day without punches. Its length comes from the first of these that is set:
// Seconds, a wall-clock interval (End is not 0), or Halves of the scheduled work of the day.
type Edit struct {
	Day        civil.Date
	PayCode    PayCode
	Job        string
	Seconds    int64
	Start, End int32
	Halves     int64
}

// book calculates the lengths of the edits in elapsed time.
func (c *calculation) book() {
	if len(c.in.Edits) == 0 {
		return
	}
	cursor := c.in.Clocks.Cursor()
	length := func(s Interval) int64 {
		from, to := cursor.Interval(s.Day, s.Start, s.End)
		return max(0, to-from)
	}
	work := map[civil.Date]int64{}
	for _, s := range c.in.Work {
		work[s.Day] += length(s)
	}
	c.out.Booked = make([]int64, len(c.in.Edits))
	for i, e := range c.in.Edits {
		switch {
		case e.Seconds != 0:
			c.out.Booked[i] = e.Seconds
		case e.End != 0:
			c.out.Booked[i] = length(Interval{e.Day, e.Start, e.End})
		default:
			c.out.Booked[i] = e.Halves * work[e.Day] / 2
		}
	}
}

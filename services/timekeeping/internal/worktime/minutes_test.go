package worktime_test

import (
	"time"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/worktime"
)

// workedMinute is one minute of work.
type workedMinute struct {
	job  string
	code worktime.PayCode
}

// byMinutes adds up the shifts that punches were paired to minute by minute, without the
// product's rounding, intervals or zones.
func byMinutes(c *timecard, paired []worktime.Shift) map[worktime.Key]int64 {
	clock := &timeClock{c: c}
	for shift := range paired {
		for _, span := range paired[shift].Spans {
			if span.In >= 0 {
				clock.spans = append(clock.spans, interval{shift, span.In, span.Out})
			}
		}
	}
	clock.shift = len(paired)
	return clock.add()
}

type interval struct {
	shift, in, out int
}

type timeClock struct {
	c     *timecard
	spans []interval
	shift int
}

func (k *timeClock) rule(punch int) *worktime.Rule {
	return k.c.Rule(civilDate(time.Unix(k.c.Punches[punch].At, 0).In(k.c.place.location)))
}

func civilDate(t time.Time) civil.Date { return civil.Of(t.Year(), t.Month(), t.Day()) }

// roundedTime returns when a punch counts, by looking for the next interval minute by minute.
func (k *timeClock) roundedTime(i int, r worktime.Rounding) int64 {
	at := k.c.Punches[i].At
	if r.Interval == 0 {
		return at
	}
	local := time.Unix(at, 0).In(k.c.place.location)
	ofDay, back := int64(local.Hour()*3600+local.Minute()*60), int64(0)
	for (ofDay-back)%r.Interval != 0 {
		back += minute
	}
	if back <= r.Grace {
		return at - back
	}
	for ofDay%r.Interval != 0 {
		ofDay, at = ofDay+minute, at+minute
	}
	return at
}

// findScheduled returns the scheduled shifts that share at least half of the minutes of the shorter shift
// with a worked shift. If there are none, it returns the shift that begins nearest.
func (k *timeClock) findScheduled(spans []interval) (out []worktime.Scheduled) {
	last := spans[len(spans)-1]
	from, to := k.c.Punches[spans[0].in].At, k.c.Punches[max(last.in, last.out)].At
	for _, plan := range k.c.Schedule {
		both := int64(0)
		for at := max(from, plan.Start); at < min(to, plan.End); at += minute {
			both += minute
		}
		if both > 0 && 2*both >= min(to-from, plan.End-plan.Start) {
			out = append(out, plan)
		}
	}
	for away := int64(0); away <= 6*3600 && len(out) == 0; away += minute {
		for _, start := range []int64{from - away, from + away} {
			for i := range k.c.Schedule {
				if k.c.Schedule[i].Start == start && len(out) == 0 {
					out = append(out, k.c.Schedule[i])
				}
			}
		}
	}
	return out
}

// onEdge returns the nearest edge that rounds a punch. If there is none, it returns the time after
// the rounding to intervals.
func onEdge(at, moved int64, edges []int64, early, late int64) int64 {
	for away := int64(0); away <= max(early, late); away += minute {
		for _, planned := range edges {
			if (at == planned-away || at == planned+away) && isWithin(at, planned-early, planned+late) {
				return planned
			}
		}
	}
	return moved
}

func isWithin(at, from, to int64) bool { return from < to && from <= at && at <= to }

// add goes through all minutes of all shifts.
func (k *timeClock) add() map[worktime.Key]int64 {
	out := map[worktime.Key]int64{}
	days, weeks := map[civil.Date]int64{}, map[civil.Date]int64{}
	for shift := 0; shift <= k.shift; shift++ {
		minutes, day, away, deduct := k.shiftMinutes(shift)
		if minutes == nil {
			continue
		}
		rule := k.c.Rule(day)
		var breaks []worktime.Break
		if deduct {
			for _, b := range rule.Breaks {
				for b.Length > 0 && away > 0 {
					b.Length, away = b.Length-minute, away-minute
				}
				breaks = append(breaks, b)
			}
		}
		week := day
		for week.Weekday() != rule.WeekStart {
			week--
		}
		var paid, ofWeek int64
		for d := week; d < week+7; d++ {
			ofWeek += weeks[d]
		}
	next:
		for _, m := range minutes {
			for i := range breaks {
				if breaks[i].Length > 0 && paid >= breaks[i].After {
					breaks[i].Length -= minute
					continue next
				}
			}
			paid += minute
			payCode, daily := m.code, false
			for _, tier := range rule.Weekly {
				if ofWeek >= tier.After {
					payCode = tier.PayCode
				}
			}
			for _, tier := range rule.Daily {
				if days[day] >= tier.After {
					payCode, daily = tier.PayCode, true
				}
			}
			days[day] += minute
			if !daily {
				weeks[day], ofWeek = weeks[day]+minute, ofWeek+minute
			}
			out[worktime.Key{Day: day, PayCode: payCode, Job: m.job}] += minute
		}
	}
	return out
}

// shiftMinutes returns the minutes of a shift in their order, its day, how long its
// employee was away in between, and whether breaks may be taken out.
func (k *timeClock) shiftMinutes(shift int) (out []workedMinute, day civil.Date, away int64, deduct bool) {
	var spans []interval
	for _, s := range k.spans {
		if s.shift == shift {
			spans = append(spans, s)
		}
	}
	if len(spans) == 0 {
		return nil, 0, 0, false
	}
	deduct = true
	rule := k.rule(spans[0].in)
	var starts, ends []int64
	for _, plan := range k.findScheduled(spans) {
		starts, ends = append(starts, plan.Start), append(ends, plan.End)
	}
	at := int64(0)
	for n, s := range spans {
		in := k.c.Punches[s.in]
		deduct = deduct && !in.NoDeduction
		start := k.roundedTime(s.in, rule.In)
		if n == 0 || spans[n-1].out != s.in {
			start = onEdge(in.At, start, starts, rule.Snap.EarlyIn, rule.Snap.LateIn)
		}
		if n == 0 {
			day, at = civilDate(time.Unix(start, 0).In(k.c.place.location)), start
		}
		for ; at < start; at += minute {
			away += minute
		}
		if s.out < 0 {
			continue
		}
		last := k.c.Punches[s.out]
		deduct = deduct && !last.NoDeduction
		rounding := rule.Out
		if n+1 < len(spans) && spans[n+1].in == s.out {
			rounding = rule.In
		}
		end := k.roundedTime(s.out, rounding)
		if n+1 == len(spans) || spans[n+1].in != s.out {
			end = onEdge(last.At, end, ends, rule.Snap.EarlyOut, rule.Snap.LateOut)
		}
		m := workedMinute{job: in.Job, code: rule.Regular}
		if in.PayCode != nil {
			m.code = *in.PayCode
		}
		for ; at < end; at += minute {
			out = append(out, m)
		}
	}
	return out, day, away, deduct
}

// bookedByMinutes adds up the time that is booked without punches, by wall-clock time.
func bookedByMinutes(c *timecard) map[worktime.Key]int64 {
	out := map[worktime.Key]int64{}
	for _, e := range c.Edits {
		key := worktime.Key{Day: e.Day, PayCode: e.PayCode, Job: e.Job}
		out[key] += e.Seconds
		switch {
		case e.Seconds != 0:
		case e.End != 0:
			out[key] += onTheClock(c.place.location, e.Day, e.Start, e.End)
		default:
			for _, s := range c.Work {
				if s.Day == e.Day {
					out[key] += onTheClock(c.place.location, s.Day, s.Start, s.End) / 2 * e.Halves
				}
			}
		}
	}
	return out
}

// onTheClock returns how long a clock on the wall takes from showing one time to showing another.
func onTheClock(location *time.Location, day civil.Date, start, end int32) int64 {
	return max(0, shownAt(location, day, end)-shownAt(location, day, start))
}

// shownAt returns how many seconds after some moment a clock first shows a time. A skipped time
// counts as if the clock had not been moved.
func shownAt(location *time.Location, day civil.Date, second int32) (passed int64) {
	midnight := time.Date(1970, 1, 1+int(day), 0, 0, 0, 0, time.UTC)
	left := int64(0)
	for at := midnight.Add(-26 * time.Hour); ; at = at.Add(time.Minute) {
		local := at.In(location)
		shown := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), 0, 0, time.UTC).Sub(midnight)
		switch before := int64(second) - int64(shown/time.Second); {
		case before == 0:
			return passed
		case before < 0:
			return passed - minute + left
		default:
			left = before
		}
		passed += minute
	}
}

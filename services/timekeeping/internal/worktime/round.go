package worktime

import "github.com/rotaloom/rotaloom/pkg/civil"

// firstPunch returns the first punch of a shift.
func (c *calculation) firstPunch(shift *Shift) *Punch {
	first := shift.Spans[0]
	if first.In < 0 {
		return &c.in.Punches[first.Out]
	}
	return &c.in.Punches[first.In]
}

// round sets the times and the day of a shift. Times never go back: a span whose rounded end is
// before its rounded start has no length.
func (c *calculation) round(shift *Shift) {
	first := c.firstPunch(shift)
	raw := first.Local(first.At).Date
	rule := c.in.Rule(raw)
	plans := c.scheduledShifts(shift)
	starts, ends := scheduledStarts(plans), scheduledEnds(plans)
	var after int64
	for i := range shift.Spans {
		span := &shift.Spans[i]
		c.cutSeconds(rule, span)
		start, end := span.RawStart, span.RawEnd
		if span.In >= 0 {
			start = rule.In.apply(&c.in.Punches[span.In], start)
		}
		if span.Out >= 0 {
			rounding := rule.Out
			if c.isTransfer(shift, i) {
				rounding = rule.In
			}
			end = rounding.apply(&c.in.Punches[span.Out], end)
		}
		if span.In >= 0 && (i == 0 || !c.isTransfer(shift, i-1)) {
			start = snapToNearest(span.RawStart, start, starts, rule.Snap.EarlyIn, rule.Snap.LateIn)
		}
		if span.Out >= 0 && !c.isTransfer(shift, i) {
			end = snapToNearest(span.RawEnd, end, ends, rule.Snap.EarlyOut, rule.Snap.LateOut)
		}
		if i > 0 {
			start = max(start, after)
		}
		if span.In < 0 {
			start = end
		}
		if span.Out < 0 {
			end = start
		}
		span.Start, span.End = start, max(start, end)
		after = span.End
		span.PayCode = rule.Regular
		if span.In >= 0 && c.in.Punches[span.In].PayCode != nil {
			span.PayCode = *c.in.Punches[span.In].PayCode
		}
	}
	shift.Day = rule.dayAt(first, shift.Spans[0].Start)
}

// cutSeconds removes the seconds from the wall-clock times of the punches, if the rule requires it.
func (c *calculation) cutSeconds(rule *Rule, span *Span) {
	if !rule.CutSeconds {
		return
	}
	if span.In >= 0 {
		span.RawStart -= int64(c.in.Punches[span.In].Local(span.RawStart).Seconds % 60)
	}
	if span.Out >= 0 {
		span.RawEnd -= int64(c.in.Punches[span.Out].Local(span.RawEnd).Seconds % 60)
	}
}

// isTransfer reports whether a span ends with the punch that begins the next one.
func (c *calculation) isTransfer(shift *Shift, i int) bool {
	return i+1 < len(shift.Spans) && shift.Spans[i].Out == shift.Spans[i+1].In
}

// near reports whether a time is at most early before and at most late after another. It returns
// false if neither is allowed.
func near(at, planned, early, late int64) bool {
	return early+late > 0 && planned-at <= early && at-planned <= late
}

// apply rounds the instant of a punch by the wall clock in the time zone of the punch. The result
// is rounded in real time: 01:55 can become 01:00 when the clock goes back at two.
func (r Rounding) apply(p *Punch, at int64) int64 {
	if r.Interval <= 0 {
		return at
	}
	local := p.Local(at)
	past := (int64(local.Date)*civil.SecondsPerDay + int64(local.Seconds)) % r.Interval
	if past < 0 {
		past += r.Interval
	}
	switch {
	case past == 0:
		return at
	case past <= r.Grace:
		return at - past
	default:
		return at + r.Interval - past
	}
}

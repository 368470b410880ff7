package worktime

import "github.com/rotaloom/rotaloom/pkg/civil"

// pay deducts breaks from the shifts, and divides the rest by pay code. The hours of days and weeks
// add up over shifts in chronological order.
func (c *calculation) pay() {
	for i := range c.out.Shifts {
		shift := &c.out.Shifts[i]
		rule := c.in.Rule(shift.Day)
		tally := c.newTally(shift.Day)
		for _, piece := range c.splitByDay(shift, rule, c.withoutBreaks(shift, rule)) {
			if piece.Day != tally.date {
				c.keep(tally)
				tally = c.newTally(piece.Day)
			}
			if !c.isSettled(piece.Day) {
				shift.Items = tally.divide(shift.Items, piece)
			}
		}
		c.keep(tally)
	}
}

// keep stores the work of a day.
func (c *calculation) keep(tally workedSoFar) {
	if !c.isSettled(tally.date) {
		c.out.Days[tally.date] = tally.day
	}
}

func (c *calculation) isSettled(day civil.Date) bool { return c.in.Settled != nil && c.in.Settled(day) }

// newTally returns the work so far on a day and in its week, and the pay codes of further time on
// the day.
func (c *calculation) newTally(day civil.Date) workedSoFar {
	rule := c.in.Rule(day)
	tally := workedSoFar{date: day, day: c.workOn(day), week: c.ofWeek(day, rule), daily: rule.Daily, weekly: rule.Weekly}
	switch {
	case len(rule.Holiday) > 0 && c.in.Holiday != nil && c.in.Holiday(day):
		tally.daily = rule.Holiday
	case len(rule.SeventhDay) > 0 && c.isSeventhDay(day, rule):
		tally.daily = rule.SeventhDay
	}
	return tally
}

// isSeventhDay reports whether a day is the last one of its week and the employee worked on
// the other six.
func (c *calculation) isSeventhDay(day civil.Date, rule *Rule) bool {
	first := rule.StartOfWeek(day)
	if day != first+6 {
		return false
	}
	for d := first; d < day; d++ {
		if c.workOn(d).All == 0 {
			return false
		}
	}
	return true
}

// ofWeek returns the work so far in the week of a day.
func (c *calculation) ofWeek(day civil.Date, rule *Rule) int64 {
	var done int64
	first := rule.StartOfWeek(day)
	for d := first; d < first+7; d++ {
		done += c.workOn(d).Week
	}
	return done
}

// workOn returns the work so far on a day.
func (c *calculation) workOn(day civil.Date) Worked {
	if done, ok := c.out.Days[day]; ok {
		return done
	}
	return c.in.Before[day]
}

// withoutBreaks returns the paid pieces of a shift.
func (c *calculation) withoutBreaks(shift *Shift, rule *Rule) []Item {
	breaks := c.remainingBreaks(shift, rule)
	var out []Item
	var paid int64
	for _, span := range shift.Spans {
		piece := Item{Day: shift.Day, Start: span.Start, End: span.End, Job: span.Job, PayCode: span.PayCode}
		for len(breaks) > 0 && paid+piece.End-piece.Start > breaks[0].After {
			cut := piece.Start + max(0, breaks[0].After-paid)
			if cut > piece.Start {
				out = append(out, Item{Day: shift.Day, Start: piece.Start, End: cut, Job: piece.Job, PayCode: piece.PayCode})
				paid += cut - piece.Start
			}
			taken := min(breaks[0].Length, piece.End-cut)
			shift.Deducted += taken
			piece.Start = cut + taken
			breaks[0].Length -= taken
			if breaks[0].Length > 0 {
				break
			}
			breaks = breaks[1:]
		}
		if piece.End > piece.Start {
			out = append(out, piece)
			paid += piece.End - piece.Start
		}
	}
	return out
}

// remainingBreaks returns the breaks that remain to be deducted: the breaks of the rule, less the
// time for which the employee punched out.
func (c *calculation) remainingBreaks(shift *Shift, rule *Rule) []Break {
	var away int64
	for i, span := range shift.Spans {
		for _, punch := range []int{span.In, span.Out} {
			if punch >= 0 && c.in.Punches[punch].NoDeduction {
				return nil
			}
		}
		if i > 0 {
			away += span.Start - shift.Spans[i-1].End
		}
	}
	var out []Break
	for _, b := range rule.Breaks {
		credit := min(away, b.Length)
		away -= credit
		if b.Length > credit {
			out = append(out, Break{After: b.After, Length: b.Length - credit})
		}
	}
	return out
}

// workedSoFar is the work so far on a day and in its week.
type workedSoFar struct {
	date          civil.Date
	day           Worked
	week          int64
	daily, weekly []Tier
}

// divide appends the parts of a piece of work, split where the pay changes.
func (t *workedSoFar) divide(out []Item, piece Item) []Item {
	for piece.Start < piece.End {
		length := piece.End - piece.Start
		daily, untilDaily := tier(t.daily, t.day.All)
		weekly, untilWeekly := tier(t.weekly, t.week)
		part := piece
		switch {
		case daily != nil:
			part.PayCode, length = daily.PayCode, min(length, untilDaily)
		case weekly != nil:
			part.PayCode, length = weekly.PayCode, min(length, untilDaily, untilWeekly)
		default:
			length = min(length, untilDaily, untilWeekly)
		}
		if daily == nil {
			t.week += length
			t.day.Week += length
		}
		part.End = piece.Start + length
		t.day.All += length
		piece.Start = part.End
		out = join(out, part)
	}
	return out
}

// forever is longer than any work.
const forever = int64(1) << 62

// tier returns the last tier that is reached, and the time until the next one.
func tier(tiers []Tier, worked int64) (*Tier, int64) {
	var reached *Tier
	for i := range tiers {
		if tiers[i].After > worked {
			return reached, tiers[i].After - worked
		}
		reached = &tiers[i]
	}
	return reached, forever
}

// join appends a part, or extends the last one if the part follows it without a gap.
func join(out []Item, part Item) []Item {
	if last := len(out) - 1; last >= 0 && out[last].End == part.Start && out[last].Day == part.Day && out[last].PayCode == part.PayCode && out[last].Job == part.Job {
		out[last].End = part.End
		return out
	}
	return append(out, part)
}

package worktime

import "github.com/rotaloom/rotaloom/pkg/civil"

// dayAt returns the day of an instant in the time zone of a punch.
func (r *Rule) dayAt(p *Punch, at int64) civil.Date {
	local := p.Local(at)
	return civil.Date(floorDiv(int64(local.Date)*civil.SecondsPerDay+int64(local.Seconds)-r.DayStart, civil.SecondsPerDay))
}

func floorDiv(n, by int64) int64 {
	quotient := n / by
	if n%by < 0 {
		quotient--
	}
	return quotient
}

// StartOfWeek returns the first day of the week of a day.
func (r *Rule) StartOfWeek(day civil.Date) civil.Date {
	return day - civil.Date((day.Weekday()-r.WeekStart+7)%7)
}

// splitsBefore reports whether a shift is divided at the start of a day.
func (r *Rule) splitsBefore(day civil.Date) bool {
	return r.SplitDays || r.SplitWeeks && day.Weekday() == r.WeekStart
}

// Splits reports whether a part of a shift may count on a later day.
func (r *Rule) Splits() bool { return r.SplitDays || r.SplitWeeks }

// DayStartIn returns the instant at which a day begins in a zone.
func (r *Rule) DayStartIn(zone *civil.Zone, day civil.Date) int64 {
	return zone.Unix((day - 1).At(int32(civil.SecondsPerDay + r.DayStart)).Normal())
}

// splitByDay divides the pieces of a shift where the rule splits it. Each part has the day that it
// counts on.
func (c *calculation) splitByDay(shift *Shift, rule *Rule, pieces []Item) []Item {
	if !rule.Splits() {
		return pieces
	}
	zone := c.firstPunch(shift).Zone
	day, next := shift.Day, shift.Day+1
	var out []Item
	for _, piece := range pieces {
		for end := rule.DayStartIn(zone, next); piece.End > end; end = rule.DayStartIn(zone, next) {
			if rule.splitsBefore(next) {
				if piece.Start < end {
					part := piece
					part.Day, part.End = day, end
					out = append(out, part)
				}
				piece.Start, day = max(piece.Start, end), next
			}
			next++
		}
		piece.Day = day
		out = append(out, piece)
	}
	return out
}

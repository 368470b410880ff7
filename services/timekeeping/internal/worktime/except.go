package worktime

// findExceptions finds the exceptions that a supervisor must check: missing punches, differences between
// shifts and the schedule, and scheduled shifts that the employee did not work.
func (c *calculation) findExceptions() {
	first, last := map[int]int{}, map[int]int{}
	for i := range c.out.Shifts {
		for _, planned := range c.out.Shifts[i].Scheduled {
			if _, known := first[planned]; !known {
				first[planned] = i
			}
			last[planned] = i
		}
	}
	for i := range c.out.Shifts {
		shift := &c.out.Shifts[i]
		c.reportMissedPunches(shift)
		c.reportLongShift(shift)
		if n := len(shift.Scheduled); n > 0 {
			c.compare(shift, first[shift.Scheduled[0]] == i, last[shift.Scheduled[n-1]] == i)
		} else if c.in.Rule(shift.Day).FlagUnscheduled {
			c.add(shift, Unscheduled, shift.Spans[0].In, 0)
		}
	}
	for i, planned := range c.in.Schedule {
		excused := c.in.Excused != nil && c.in.Excused(planned.Day)
		if _, worked := first[i]; !worked && planned.End <= c.in.Now && !excused && c.in.Rule(planned.Day).FlagAbsence {
			c.out.Exceptions = append(c.out.Exceptions, Exception{Day: planned.Day, Fault: Absent, Punch: -1, Amount: planned.End - planned.Start})
		}
	}
}

func (c *calculation) add(shift *Shift, fault Fault, punch int, amount int64) {
	c.out.Exceptions = append(c.out.Exceptions, Exception{Day: shift.Day, Fault: fault, Punch: punch, Amount: amount})
}

func (c *calculation) reportMissedPunches(shift *Shift) {
	last := shift.Spans[len(shift.Spans)-1]
	switch {
	case last.In < 0:
		c.add(shift, MissedIn, last.Out, 0)
	case last.Out < 0 && !shift.Running:
		c.add(shift, MissedOut, last.In, 0)
	}
}

// reportLongShift reports a shift that reaches the length limit of the rule of its day.
func (c *calculation) reportLongShift(shift *Shift) {
	limit, last := c.in.Rule(shift.Day).LongShift, shift.Spans[len(shift.Spans)-1]
	if length := last.RawEnd - shift.Spans[0].RawStart; limit > 0 && length >= limit {
		c.add(shift, LongShift, max(last.In, last.Out), length-limit)
	}
}

// compare compares the punches with the scheduled shifts: the first punch, the last punch,
// and the punches around a pause between two scheduled shifts. begins and ends report whether
// the shift is the first and the last one that matches its scheduled shifts.
func (c *calculation) compare(shift *Shift, begins, ends bool) {
	plans, spans := c.scheduledShifts(shift), shift.Spans
	limits := c.in.Rule(shift.Day).Tolerance
	beyond := func(limit *int64, fault Fault, punch int, by int64) {
		if punch >= 0 && limit != nil && by > *limit {
			c.add(shift, fault, punch, by)
		}
	}
	in := func(span Span, planned int64) {
		beyond(limits.EarlyIn, EarlyIn, span.In, planned-span.RawStart)
		beyond(limits.LateIn, LateIn, span.In, span.RawStart-planned)
	}
	out := func(span Span, planned int64) {
		beyond(limits.EarlyOut, EarlyOut, span.Out, planned-span.RawEnd)
		beyond(limits.LateOut, LateOut, span.Out, span.RawEnd-planned)
	}
	if begins {
		in(spans[0], plans[0].Start)
	}
	for i := 1; i < len(plans); i++ {
		if away := c.findPause(shift, plans[i-1].End, plans[i].Start); away >= 0 {
			out(spans[away], plans[i-1].End)
			in(spans[away+1], plans[i].Start)
		}
	}
	if ends {
		out(spans[len(spans)-1], plans[len(plans)-1].End)
	}
}

// findPause returns the position of the span before the longest pause of a shift between two
// instants, or -1 without a pause.
func (c *calculation) findPause(shift *Shift, from, to int64) int {
	best, longest := -1, int64(0)
	for i := 0; i+1 < len(shift.Spans); i++ {
		if c.isTransfer(shift, i) {
			continue
		}
		if both := min(to, shift.Spans[i+1].RawStart) - max(from, shift.Spans[i].RawEnd); both > longest {
			best, longest = i, both
		}
	}
	return best
}

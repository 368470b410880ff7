package worktime

// except finds what a supervisor has to look at: punches that are missing, shifts that
// differ from the schedule, and scheduled shifts that nobody worked.
func (c *calculation) except() {
	worked := make([]bool, len(c.in.Schedule))
	for i := range c.out.Shifts {
		shift := &c.out.Shifts[i]
		c.missed(shift)
		if shift.Scheduled >= 0 {
			worked[shift.Scheduled] = true
			c.compare(shift, &c.in.Schedule[shift.Scheduled])
		} else if c.in.Rule(shift.Day).FlagUnscheduled {
			c.add(shift, Unscheduled, shift.Spans[0].In, 0)
		}
	}
	for i, planned := range c.in.Schedule {
		excused := c.in.Excused != nil && c.in.Excused(planned.Day)
		if !worked[i] && planned.End <= c.in.Now && !excused && c.in.Rule(planned.Day).FlagAbsence {
			c.out.Exceptions = append(c.out.Exceptions, Exception{Day: planned.Day, Fault: Absent, Punch: -1, Amount: planned.End - planned.Start})
		}
	}
}

func (c *calculation) add(shift *Shift, fault Fault, punch int, amount int64) {
	c.out.Exceptions = append(c.out.Exceptions, Exception{Day: shift.Day, Fault: fault, Punch: punch, Amount: amount})
}

func (c *calculation) missed(shift *Shift) {
	last := shift.Spans[len(shift.Spans)-1]
	switch {
	case last.In < 0:
		c.add(shift, MissedIn, last.Out, 0)
	case last.Out < 0 && !shift.Running:
		c.add(shift, MissedOut, last.In, 0)
	}
}

// compare compares the punches with the scheduled shift.
func (c *calculation) compare(shift *Shift, planned *Scheduled) {
	first, last := shift.Spans[0], shift.Spans[len(shift.Spans)-1]
	limits := c.in.Rule(shift.Day).Tolerance
	beyond := func(limit *int64, fault Fault, punch int, by int64) {
		if punch >= 0 && limit != nil && by > *limit {
			c.add(shift, fault, punch, by)
		}
	}
	beyond(limits.EarlyIn, EarlyIn, first.In, planned.Start-first.RawStart)
	beyond(limits.LateIn, LateIn, first.In, first.RawStart-planned.Start)
	beyond(limits.EarlyOut, EarlyOut, last.Out, planned.End-last.RawEnd)
	beyond(limits.LateOut, LateOut, last.Out, last.RawEnd-planned.End)
}

package worktime

// pair divides the punches into shifts. Each belongs to one shift: who is not at work
// begins a span with it, who is at work ends one, unless the punch says otherwise or
// comes too late to belong to what was begun.
func (c *calculation) pair() {
	p := pairing{calculation: c}
	for i := range c.in.Punches {
		p.next(i)
	}
	p.finish()
}

type pairing struct {
	*calculation
	// shift is the shift that punches may still belong to; began is its first punch.
	shift *Shift
	began int64
	// open says that the last span of shift has no end.
	open bool
}

func (p *pairing) next(i int) {
	punch := &p.in.Punches[i]
	if p.shift != nil && punch.At-p.began > p.rule(p.shift.Spans[0].In).MaxShift {
		p.finishShift()
	}
	switch {
	case p.open && punch.Transfer && punch.Direction == Any:
		p.end(i)
		p.begin(i)
	case p.open && punch.Direction != In:
		p.end(i)
	case p.open:
		p.finishShift()
		p.begin(i)
	case punch.Direction == Out:
		p.finishShift()
		p.lost(i)
	default:
		if p.shift != nil && punch.At-p.lastEnd() > p.rule(p.shift.Spans[0].In).ShiftGap {
			p.finishShift()
		}
		p.begin(i)
	}
}

// rule returns the pay rule of the day on which a punch was made.
func (p *pairing) rule(punch int) *Rule {
	made := &p.in.Punches[punch]
	return p.in.Rule(made.Local(made.At).Date)
}

func (p *pairing) lastEnd() int64 { return p.shift.Spans[len(p.shift.Spans)-1].RawEnd }

func (p *pairing) begin(i int) {
	punch := &p.in.Punches[i]
	if p.shift == nil {
		p.shift, p.began = &Shift{Scheduled: -1}, punch.At
	}
	p.shift.Spans = append(p.shift.Spans, Span{RawStart: punch.At, RawEnd: punch.At, In: i, Out: -1, Job: punch.Job})
	p.open = true
}

func (p *pairing) end(i int) {
	span := &p.shift.Spans[len(p.shift.Spans)-1]
	span.RawEnd, span.Out = p.in.Punches[i].At, i
	p.open = false
}

// finishShift ends the shift. Without a punch out, its last span is worth nothing.
func (p *pairing) finishShift() {
	if p.shift == nil {
		return
	}
	p.out.Shifts = append(p.out.Shifts, *p.shift)
	p.shift, p.open = nil, false
}

// finish ends the last shift, which goes on while its employee may still punch out.
func (p *pairing) finish() {
	if p.shift != nil && p.open && p.in.Now-p.began <= p.rule(p.shift.Spans[0].In).MaxShift {
		p.shift.Running = true
	}
	p.finishShift()
}

// lost keeps a punch out without one in. It makes a shift of no length, so that it is
// seen on its day.
func (p *pairing) lost(i int) {
	at := p.in.Punches[i].At
	p.out.Shifts = append(p.out.Shifts, Shift{Scheduled: -1, Spans: []Span{{RawStart: at, RawEnd: at, In: -1, Out: i, Job: p.in.Punches[i].Job}}})
}

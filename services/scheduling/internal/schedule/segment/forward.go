package segment

import "github.com/rotaloom/rotaloom/pkg/civil"

// Forward moves the times of one entry out of the gap that a clock change skips. A moved time never
// passes a later time of the entry or its end; these move with it.
type Forward struct {
	// Start and End are the moved times of the entry.
	Start, End civil.DateTime

	zone     *civil.Zone
	previous civil.DateTime
}

// NewForward returns a Forward for an entry from start to end.
func NewForward(zone *civil.Zone, start, end civil.DateTime) Forward {
	start = zone.Adjust(start)
	return Forward{Start: start, End: later(zone.Adjust(end), start), zone: zone, previous: start}
}

// Next returns a time of the entry, moved. Call it with the times in their order.
func (f *Forward) Next(at civil.DateTime) civil.DateTime {
	if f.previous = later(f.zone.Adjust(at), f.previous); f.previous.Compare(f.End) > 0 {
		f.previous = f.End
	}
	return f.previous
}

// Reaches reports whether a time that a clock change skips is moved to at.
func (f *Forward) Reaches(at civil.DateTime) bool { return f.zone.AfterSkip(at) }

func later(a, b civil.DateTime) civil.DateTime {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

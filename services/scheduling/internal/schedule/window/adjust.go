package window

import (
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
)

// adjust moves the times of an entry that a clock change skips; see [segment.Forward].
func (w *MessageWriter) adjust(e *Entry, t *Template, at [3]int) {
	zone := w.Persons[e.Employee].Zone.zone
	if !t.skipsAny(zone, e.Day) {
		return
	}
	forward := segment.NewForward(zone, e.Day.At(t.Start), e.Day.At(t.End))
	for i := range t.sections {
		for _, h := range t.sections[i].placeholders {
			if h.form == formDate || h.form == formID {
				continue
			}
			plain := e.Day.AddDays(int(h.day)).At(h.clock)
			var moved civil.DateTime
			switch {
			case i > 0:
				moved = forward.Next(plain)
			case plain.Compare(e.Day.At(t.End)) == 0: // the end of the entry itself
				moved = forward.End
			default:
				moved = zone.Adjust(plain)
			}
			w.fill(at[i]+int(h.at), h.form, moved)
		}
	}
}

// IsMoved reports whether a clock change of the zone skips one of the entry's times, so that the entry
// is written with later ones.
func (e *Entry) IsMoved(zone *ZoneDays) bool {
	return zone.Touches(e.Day, e.Template.End/civil.SecondsPerDay) && e.Template.skipsAny(zone.zone, e.Day)
}

// skipsAny reports whether a clock change skips one of the times of an entry on a day.
func (t *Template) skipsAny(zone *civil.Zone, on civil.Date) bool {
	for i := range t.sections {
		for _, h := range t.sections[i].placeholders {
			plain := on.AddDays(int(h.day)).At(h.clock)
			if h.form != formDate && h.form != formID && zone.Adjust(plain) != plain {
				return true
			}
		}
	}
	return false
}

func (w *MessageWriter) fill(at int, f form, moved civil.DateTime) {
	if f == formClock {
		_, clock := moved.Clock()
		clock.Append(w.Out[at : at : at+clockLen])
		return
	}
	moved.Append(w.Out[at : at : at+dateTimeLen])
}

package encoding

import "github.com/rotaloom/rotaloom/pkg/civil"

// adjust rewrites the times of an entry that a clock change skips. Such a time
// moves forward by as much as the clock did. What would then lie after a later
// time of the same entry, or after its end, takes that time with it.
func (w *writer) adjust(e *Entry, at [3]int) {
	t, zone := e.Template, w.Persons[e.Employee].Zone.zone
	start := zone.Adjust(e.Day.At(t.Start))
	end := later(zone.Adjust(e.Day.At(t.End)), start)
	if !skipsAny(zone, e) {
		return
	}
	previous := start
	for i := range t.sections {
		for _, h := range t.sections[i].placeholders {
			if h.form == formDate || h.form == formID {
				continue
			}
			plain := e.Day.AddDays(int(h.day)).At(h.clock)
			moved := zone.Adjust(plain)
			switch i {
			case 0: // the entry's own start and end
				if plain.Compare(e.Day.At(t.End)) == 0 {
					moved = end
				}
			default:
				if moved = later(moved, previous); moved.Compare(end) > 0 {
					moved = end
				}
				previous = moved
			}
			w.fill(at[i]+int(h.at), h.form, moved)
		}
	}
}

// skipsAny reports whether a clock change skips one of the entry's times.
func skipsAny(zone *civil.Zone, e *Entry) bool {
	for i := range e.Template.sections {
		for _, h := range e.Template.sections[i].placeholders {
			plain := e.Day.AddDays(int(h.day)).At(h.clock)
			if h.form != formDate && h.form != formID && zone.Adjust(plain) != plain {
				return true
			}
		}
	}
	return false
}

func (w *writer) fill(at int, f form, moved civil.DateTime) {
	if f == formClock {
		_, clock := moved.Clock()
		clock.Append(w.out[at : at : at+clockLen])
		return
	}
	moved.Append(w.out[at : at : at+dateTimeLen])
}

func later(a, b civil.DateTime) civil.DateTime {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

package encoding

import "google.golang.org/protobuf/encoding/protowire"

// holidaySize returns the length of the result of scheduledHolidays.
func (w *writer) holidaySize() int {
	size := 0
	for i := range w.Persons {
		for _, h := range w.Holidays {
			size += 1 + protowire.SizeBytes(1+len(w.Persons[i].Ref)+len(h.Fields))
		}
	}
	return size
}

// scheduledHolidays encodes each holiday of each employee.
func (w *writer) scheduledHolidays() []byte {
	out := make([]byte, 0, w.holidaySize())
	for _, i := range requestOrder(w.Persons) {
		p := &w.Persons[i]
		for _, h := range w.Holidays {
			out = protowire.AppendTag(out, holidayItems, protowire.BytesType)
			out = protowire.AppendVarint(out, uint64(1+len(p.Ref)+len(h.Fields)))
			out = protowire.AppendTag(out, holidayEmployee, protowire.BytesType)
			out = append(out, p.Ref...)
			out = append(out, h.Fields...)
		}
	}
	return out
}

// isHoliday reports for each day of the window whether a holiday touches it.
func (w *writer) isHoliday() []bool {
	out := make([]bool, w.Days.Days())
	for _, h := range w.Holidays {
		for day := max(h.Days.From, w.Days.From); day < min(h.Days.To, w.Days.To); day++ {
			out[day-w.Days.From] = true
		}
	}
	return out
}

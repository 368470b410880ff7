package schedule

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// holiday is one that touches the window. It is the same for all employees.
type holiday struct {
	start string
	days  civil.Range
	// fields are those of a ScheduledHoliday but for the employee.
	fields []byte
}

// holidaySize is the length of the items that scheduledHolidays appends.
func (w *writer) holidaySize() int {
	size := 0
	for i := range w.persons {
		for _, h := range w.holidays {
			size += 1 + protowire.SizeBytes(1+len(w.persons[i].ref)+len(h.fields))
		}
	}
	return size
}

// scheduledHolidays lists every holiday of every employee.
func (w *writer) scheduledHolidays() []byte {
	out := make([]byte, 0, w.holidaySize())
	for _, i := range asAsked(w.persons) {
		p := &w.persons[i]
		for _, h := range w.holidays {
			out = protowire.AppendTag(out, 1, protowire.BytesType)
			out = protowire.AppendVarint(out, uint64(1+len(p.ref)+len(h.fields)))
			out = protowire.AppendTag(out, 2, protowire.BytesType)
			out = append(out, p.ref...)
			out = append(out, h.fields...)
		}
	}
	return out
}

// isHoliday says of each day of the window whether a holiday touches it.
func (w *writer) isHoliday() []bool {
	out := make([]bool, w.days.Days())
	for _, h := range w.holidays {
		for day := max(h.days.From, w.days.From); day < min(h.days.To, w.days.To); day++ {
			out[day-w.days.From] = true
		}
	}
	return out
}

package window

import (
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
)

// MessageWriter appends the messages of a window's entries to Out.
type MessageWriter struct {
	*Window
	Out   []byte
	dates dateTexts
	// jobs has templates with the jobs of employees.
	jobs jobTemplates
}

// NewMessageWriter returns a writer of the messages of the window's entries.
func NewMessageWriter(w *Window) MessageWriter {
	return MessageWriter{Window: w, dates: newDateTexts(w.Days), jobs: jobTemplates{templates: map[jobKey]*Template{}}}
}

// Message returns the message of one entry of the window.
func (w *Window) Message(e *Entry) ([]byte, error) {
	out := &MessageWriter{Window: w, dates: newDateTexts(civil.Range{From: e.Day, To: e.Day + 1})}
	err := out.AppendEntry(e)
	return out.Out, err
}

// Prepare sets the size of each entry, and fills in jobs. Size and AppendEntry need prepared entries.
func (w *MessageWriter) Prepare(entries []Entry) error {
	for i := range entries {
		if err := w.jobs.fill(&entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// Size returns the length of an entry's message.
func (w *MessageWriter) Size(e *Entry) int {
	n := 1 + protowire.SizeVarint(uint64(e.ID)) + int(e.size)
	n += len(versionTags[e.Template.Kind]) + protowire.SizeVarint(uint64(e.Version))
	if e.Employee >= 0 {
		n += 1 + len(w.Persons[e.Employee].Ref)
	}
	if e.Relations >= 0 {
		n += len(relationTags[e.Template.Kind]) + len(w.Relations[e.Relations])
	}
	return n
}

// AppendEntry appends the message of an entry.
func (w *MessageWriter) AppendEntry(e *Entry) error {
	t, err := e.templateWithJob(&w.jobs.memory)
	if err != nil {
		return err
	}
	w.Out = append(w.Out, idTag)
	w.Out = protowire.AppendVarint(w.Out, uint64(e.ID))
	if e.Employee >= 0 {
		w.Out = append(w.Out, employeeTag)
		w.Out = append(w.Out, w.Persons[e.Employee].Ref...)
	}
	var at [len(t.sections)]int
	at[0] = w.appendSection(e, &t.sections[0])
	if e.Locked && t.lockedAt >= 0 {
		w.Out[at[0]+int(t.lockedAt)] = 1
	}
	w.Out = append(w.Out, versionTags[t.Kind]...)
	w.Out = protowire.AppendVarint(w.Out, uint64(e.Version))
	at[1] = w.appendSection(e, &t.sections[1])
	if e.Relations >= 0 {
		w.Out = append(w.Out, relationTags[t.Kind]...)
		w.Out = append(w.Out, w.Relations[e.Relations]...)
		putID(w.Out[len(w.Out)-idLen:], e.ID) // the target
	}
	at[2] = w.appendSection(e, &t.sections[2])
	if e.Employee >= 0 && e.Relations >= 0 && w.Persons[e.Employee].Zone.Touches(e.Day, t.lastDay) {
		w.adjust(e, t, at)
	}
	return nil
}

// appendSection appends a section of an entry with the dates of its day, and returns its position.
func (w *MessageWriter) appendSection(e *Entry, s *appendSection) int {
	at := len(w.Out)
	w.Out = append(w.Out, s.text...)
	for i := range s.placeholders {
		switch h := &s.placeholders[i]; h.form {
		case formClock:
		case formID:
			putID(w.Out[at+int(h.at):], entryid.Later(e.ID, h.series))
		default:
			*(*[dateLen]byte)(w.Out[at+int(h.at):]) = [dateLen]byte(w.dates.format(e.Day + civil.Date(h.day)))
		}
	}
	return at
}

// putID writes a generated id as a varint of idLen bytes. It spreads the id into groups of seven
// bits all at once, and sets the continuation bit of each byte but the last.
func putID(dst []byte, id int64) {
	x := uint64(id)
	x = x&(1<<28-1) | x>>28<<32
	x = x&0x00003fff00003fff | x&0x0fffc0000fffc000<<2
	x = x&0x007f007f007f007f | x&0x3f803f803f803f80<<1
	binary.LittleEndian.PutUint64(dst, x|0x0080808080808080)
}

// dateTexts has the texts of the dates of a window and of the dates around it.
type dateTexts struct {
	first civil.Date
	text  []byte
}

// newDateTexts formats the dates of a window, and the dates before and after it that entries can
// reach.
func newDateTexts(days civil.Range) dateTexts {
	d := dateTexts{first: days.From.AddDays(-Lookback)}
	last := days.To.AddDays(Lookback)
	d.text = make([]byte, 0, dateLen*int(last-d.first+1))
	for day := d.first; day <= last; day++ {
		d.text = day.Append(d.text)
	}
	return d
}

func (d dateTexts) format(day civil.Date) []byte {
	at := dateLen * int(day-d.first)
	return d.text[at : at+dateLen]
}

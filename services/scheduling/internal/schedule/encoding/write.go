package encoding

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
)

// writer appends the response's bytes. Sizes are known before anything is
// written, so that the buffer is made once.
type writer struct {
	*Window
	out   []byte
	dates dateTexts
	// jobs has templates of entries with the jobs of employees.
	jobs jobTemplates
	// send takes parts of the response and returns a buffer for the next one; it
	// is nil when the response must be whole.
	send func(fields []byte) (next []byte, err error)
}

// Message returns the message of one entry of the window.
func (w *Window) Message(e *Entry) ([]byte, error) {
	out := &writer{Window: w, dates: datesOf(civil.Range{From: e.Day, To: e.Day + 1})}
	err := out.entry(e)
	return out.out, err
}

// size is the length of an entry's message.
func (w *writer) size(e *Entry) int {
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

// prepare makes entries ready for writing.
func (w *writer) prepare(entries []Entry) error {
	for i := range entries {
		if err := w.jobs.fill(&entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// listSize is the length of a list message with the entries as its items.
func (w *writer) listSize(entries []Entry) int {
	total := 0
	for i := range entries {
		total += 1 + protowire.SizeBytes(w.size(&entries[i]))
	}
	return total
}

// partEntries is how many entries are sent ahead at a time: so few that the
// caller soon has something to do.
const partEntries = 400

// list appends a field that holds the list of the entries and the bytes of
// other ones, perhaps in parts.
func (w *writer) list(field protowire.Number, entries []Entry, other []byte) error {
	for w.send != nil && len(entries) > partEntries {
		err := w.appendEntries(field, entries[:partEntries], nil)
		if err != nil {
			return err
		}
		if w.out, err = w.send(w.out); err != nil {
			return err
		}
		entries = entries[partEntries:]
	}
	return w.appendEntries(field, entries, other)
}

func (w *writer) appendEntries(field protowire.Number, entries []Entry, other []byte) error {
	size := len(other) + w.listSize(entries)
	w.out = slices.Grow(w.out, 1+protowire.SizeBytes(size))
	w.out = protowire.AppendTag(w.out, field, protowire.BytesType)
	w.out = protowire.AppendVarint(w.out, uint64(size))
	if err := w.items(entries); err != nil {
		return err
	}
	w.out = append(w.out, other...)
	return nil
}

// items appends the items of a list.
func (w *writer) items(entries []Entry) error {
	for i := range entries {
		w.out = append(w.out, itemTag)
		w.out = protowire.AppendVarint(w.out, uint64(w.size(&entries[i])))
		if err := w.entry(&entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// entry appends the message of an entry.
func (w *writer) entry(e *Entry) error {
	t, err := e.templateWithJob(&w.jobs.memory)
	if err != nil {
		return err
	}
	w.out = append(w.out, idTag)
	w.out = protowire.AppendVarint(w.out, uint64(e.ID))
	if e.Employee >= 0 {
		w.out = append(w.out, employeeTag)
		w.out = append(w.out, w.Persons[e.Employee].Ref...)
	}
	var at [len(t.sections)]int
	at[0] = w.section(e, &t.sections[0])
	if e.Locked && t.lockedAt >= 0 {
		w.out[at[0]+int(t.lockedAt)] = 1
	}
	w.out = append(w.out, versionTags[t.Kind]...)
	w.out = protowire.AppendVarint(w.out, uint64(e.Version))
	at[1] = w.section(e, &t.sections[1])
	if e.Relations >= 0 {
		w.out = append(w.out, relationTags[t.Kind]...)
		w.out = append(w.out, w.Relations[e.Relations]...)
		putID(w.out[len(w.out)-idLen:], e.ID) // the target
	}
	at[2] = w.section(e, &t.sections[2])
	if e.Employee >= 0 && e.Relations >= 0 && w.Persons[e.Employee].Zone.Touches(e.Day, t.lastDay) {
		w.adjust(e, t, at)
	}
	return nil
}

// section appends a part of an entry with the dates of its day, and returns
// where it begins.
func (w *writer) section(e *Entry, s *section) int {
	at := len(w.out)
	w.out = append(w.out, s.text...)
	for i := range s.placeholders {
		switch h := &s.placeholders[i]; h.form {
		case formClock:
		case formID:
			putID(w.out[at+int(h.at):], entryid.Later(e.ID, h.series))
		default:
			*(*[dateLen]byte)(w.out[at+int(h.at):]) = [dateLen]byte(w.dates.of(e.Day + civil.Date(h.day)))
		}
	}
	return at
}

// putID writes a generated id, whose varint has idLen bytes: it spreads the id into groups
// of seven bits, all at once, and says of each byte but the last that another one follows.
func putID(dst []byte, id int64) {
	x := uint64(id)
	x = x&(1<<28-1) | x>>28<<32
	x = x&0x00003fff00003fff | x&0x0fffc0000fffc000<<2
	x = x&0x007f007f007f007f | x&0x3f803f803f803f80<<1
	binary.LittleEndian.PutUint64(dst, x|0x0080808080808080)
}

// dateTexts holds the texts of the dates around a window.
type dateTexts struct {
	first civil.Date
	text  []byte
}

// datesOf makes the texts of the dates of a window and of those around it that
// entries reach.
func datesOf(days civil.Range) dateTexts {
	d := dateTexts{first: days.From.AddDays(-Lookback)}
	last := days.To.AddDays(Lookback)
	d.text = make([]byte, 0, dateLen*int(last-d.first+1))
	for day := d.first; day <= last; day++ {
		d.text = day.Append(d.text)
	}
	return d
}

func (d dateTexts) of(day civil.Date) []byte {
	at := dateLen * int(day-d.first)
	return d.text[at : at+dateLen]
}

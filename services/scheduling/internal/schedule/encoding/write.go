package encoding

import (
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
)

// writer appends the bytes of the response. Sizes are computed first, so that the buffer is
// allocated once.
type writer struct {
	*Window
	out   []byte
	dates dateTexts
	// jobs has templates with the jobs of employees.
	jobs jobTemplates
	// send sends a part of the response and returns a buffer for the next part. It is nil if the
	// response must be in one piece.
	send func(fields []byte) (next []byte, err error)
}

// Message returns the message of one entry of the window.
func (w *Window) Message(e *Entry) ([]byte, error) {
	out := &writer{Window: w, dates: newDateTexts(civil.Range{From: e.Day, To: e.Day + 1})}
	err := out.appendEntry(e)
	return out.out, err
}

// size returns the length of an entry's message.
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

// prepare sets the size of each entry, and fills in jobs.
func (w *writer) prepare(entries []Entry) error {
	for i := range entries {
		if err := w.jobs.fill(&entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// listSize returns the length of a list message with the entries as items.
func (w *writer) listSize(entries []Entry) int {
	total := 0
	for i := range entries {
		total += 1 + protowire.SizeBytes(w.size(&entries[i]))
	}
	return total
}

// partEntries is the number of entries in a part that is sent ahead. It is small, so that the
// caller can start early.
const partEntries = 400

// list appends a field with a list of the entries and the other encoded items. It may send parts
// ahead.
func (w *writer) appendList(field protowire.Number, entries []Entry, other []byte) error {
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
	if err := w.appendItems(entries); err != nil {
		return err
	}
	w.out = append(w.out, other...)
	return nil
}

// items appends the items of a list.
func (w *writer) appendItems(entries []Entry) error {
	for i := range entries {
		w.out = append(w.out, itemTag)
		w.out = protowire.AppendVarint(w.out, uint64(w.size(&entries[i])))
		if err := w.appendEntry(&entries[i]); err != nil {
			return err
		}
	}
	return nil
}

// entry appends the message of an entry.
func (w *writer) appendEntry(e *Entry) error {
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
	at[0] = w.appendSection(e, &t.sections[0])
	if e.Locked && t.lockedAt >= 0 {
		w.out[at[0]+int(t.lockedAt)] = 1
	}
	w.out = append(w.out, versionTags[t.Kind]...)
	w.out = protowire.AppendVarint(w.out, uint64(e.Version))
	at[1] = w.appendSection(e, &t.sections[1])
	if e.Relations >= 0 {
		w.out = append(w.out, relationTags[t.Kind]...)
		w.out = append(w.out, w.Relations[e.Relations]...)
		putID(w.out[len(w.out)-idLen:], e.ID) // the target
	}
	at[2] = w.appendSection(e, &t.sections[2])
	if e.Employee >= 0 && e.Relations >= 0 && w.Persons[e.Employee].Zone.Touches(e.Day, t.lastDay) {
		w.adjust(e, t, at)
	}
	return nil
}

// section appends a section of an entry with the dates of its day, and returns its position.
func (w *writer) appendSection(e *Entry, s *appendSection) int {
	at := len(w.out)
	w.out = append(w.out, s.text...)
	for i := range s.placeholders {
		switch h := &s.placeholders[i]; h.form {
		case formClock:
		case formID:
			putID(w.out[at+int(h.at):], entryid.Later(e.ID, h.series))
		default:
			*(*[dateLen]byte)(w.out[at+int(h.at):]) = [dateLen]byte(w.dates.format(e.Day + civil.Date(h.day)))
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

package window

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
)

// Kind is the kind of an entry. Kinds of generated entries are in the order of [rotation.Kind].
type Kind uint8

// The kinds of entries.
const (
	KindShift Kind = iota
	KindPayCodeEdit
	KindAvailability
	KindTag
	// Leave edits are never generated.
	KindLeaveEdit
	// Kinds is the number of kinds.
	Kinds
)

// form is the format of a placeholder.
type form uint8

const (
	formDate     form = iota // YYYY-MM-DD
	formDateTime             // YYYY-MM-DDTHH:MM:SS
	formClock                // HH:MM:SS
	formID                   // an id derived from the id of the entry, as a varint
)

// The lengths of the placeholders, for all years that schedules support.
const (
	dateLen     = len("2006-01-02")
	dateTimeLen = len("2006-01-02T15:04:05")
	clockLen    = len("15:04:05")
	// A varint of 53 bits.
	idLen = 8
)

// datePlaceholder is a position in the bytes of an entry that depends on the day.
type datePlaceholder struct {
	at   int32 // offset in its section
	form form
	day  int32 // days after the day of the entry
	// clock is the time of day in seconds. The bytes already contain its text, which only a clock
	// change can make wrong.
	clock int32
	// series is by how many series the id is later than the id of the entry.
	series int32
}

// appendSection is a part of an entry's message, in the order of its fields.
type appendSection struct {
	text         []byte
	placeholders []datePlaceholder
}

// Template is an entry's message without the id and employee, which come first in every kind. The
// version comes between the first two sections, and the relations between the last two.
type Template struct {
	Kind     Kind
	sections [3]appendSection
	// lockedAt is the position of the locked flag in the first section; -1 for kinds without the
	// flag.
	lockedAt int32
	size     int32 // of the sections
	// Start and End are seconds after the midnight of the entry's day. An entry without times
	// covers the day from 0 to 24:00.
	Start, End int32
	lastDay    int32 // the largest day of its placeholders
	location   string
}

func (t *Template) finish() {
	t.size = 0
	for i := range t.sections {
		t.size += int32(len(t.sections[i].text))
		for _, h := range t.sections[i].placeholders {
			t.lastDay = max(t.lastDay, h.day)
		}
	}
}

// Text returns the text of the sections. Times of generated entries are based on 1970-01-01.
func (t *Template) Text() []byte {
	var text []byte
	for i := range t.sections {
		text = append(text, t.sections[i].text...)
	}
	return text
}

// Relative reports whether the times in the text are based on 1970-01-01. Otherwise they are on the
// entry's own days.
func (t *Template) Relative() bool { return len(t.sections[0].placeholders) > 0 }

// appendMessage appends the fields of m. Their numbers must be larger than the numbers before.
func (s *appendSection) appendMessage(m proto.Message) error {
	text, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(s.text, m)
	s.text = text
	return err
}

// appendDate appends a field whose text depends on the day. seconds count from the midnight of
// the entry's day.
func (s *appendSection) appendDate(field protowire.Number, f form, seconds int32) {
	length := [...]int{formDate: dateLen, formDateTime: dateTimeLen, formClock: clockLen}[f]
	s.text = protowire.AppendTag(s.text, field, protowire.BytesType)
	s.text = protowire.AppendVarint(s.text, uint64(length))
	at := civil.Date(0).At(seconds).Normal()
	s.placeholders = append(s.placeholders, datePlaceholder{at: int32(len(s.text)), form: f, day: int32(at.Date), clock: at.Seconds})
	switch f {
	case formDate:
		s.text = at.Date.Append(s.text)
	case formDateTime:
		s.text = at.Append(s.text)
	case formClock:
		s.text = civil.TimeOfDay(at.Seconds).Append(s.text)
	}
}

// appendID appends a field with an id that is later than the entry's id by a number of series.
func (s *appendSection) appendID(field protowire.Number, series int32) {
	s.text = protowire.AppendTag(s.text, field, protowire.VarintType)
	s.placeholders = append(s.placeholders, datePlaceholder{at: int32(len(s.text)), form: formID, series: series})
	s.text = protowire.AppendVarint(s.text, uint64(entryid.FirstGenerated))
}

// appendNested appends a field with the message in sub.
func (s *appendSection) appendNested(field protowire.Number, sub *appendSection) {
	s.text = protowire.AppendTag(s.text, field, protowire.BytesType)
	s.text = protowire.AppendVarint(s.text, uint64(len(sub.text)))
	for _, h := range sub.placeholders {
		h.at += int32(len(s.text))
		s.placeholders = append(s.placeholders, h)
	}
	s.text = append(s.text, sub.text...)
}

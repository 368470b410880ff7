package encoding

import (
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
)

// Kind is the kind of an entry of the schedule; those that patterns generate
// come in the order of [rotation.Kind].
type Kind uint8

// The kinds of entries.
const (
	KindShift Kind = iota
	KindPayCodeEdit
	KindAvailability
	KindTag
	// Leave edits are never generated.
	KindLeaveEdit
	// Kinds is how many kinds there are.
	Kinds
)

// form says what is written in place of a placeholder.
type form uint8

const (
	formDate     form = iota // YYYY-MM-DD
	formDateTime             // YYYY-MM-DDTHH:MM:SS
	formClock                // HH:MM:SS
	formID                   // an id made of that of the entry, as a varint
)

// The lengths of the three forms, for the years that schedules know.
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
	day  int32 // days after the day to which the entry belongs
	// clock is the time of day in seconds. Its text stands in the bytes
	// already: only a clock change can make it wrong.
	clock int32
	// series is how many series the id lies behind that of the entry.
	series int32
}

// section is a part of an entry's message, in the order of its fields.
type section struct {
	text         []byte
	placeholders []datePlaceholder
}

// Template is an entry's message without its id and employee, which stand at
// the head of every kind. Between the first two sections stands the version,
// between the last two the relations.
type Template struct {
	Kind     Kind
	sections [3]section
	// lockedAt is where the first section reports whether the entry is locked;
	// -1 for kinds that do not say.
	lockedAt int32
	size     int32 // of the sections
	// Start and end are seconds after the midnight of the entry's day. An
	// entry without times begins at 0 and ends a day later.
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

// Text returns what the sections hold, with the dates of the first day there is.
func (t *Template) Text() []byte {
	var text []byte
	for i := range t.sections {
		text = append(text, t.sections[i].text...)
	}
	return text
}

// Relative reports whether the times in the text count from the first day there
// is; else they stand on the entry's own days.
func (t *Template) Relative() bool { return len(t.sections[0].placeholders) > 0 }

// message appends the fields of m, which must come after those before.
func (s *section) message(m proto.Message) error {
	text, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(s.text, m)
	s.text = text
	return err
}

// datePlaceholder appends a field with a text that depends on the day; seconds count from
// the midnight of the entry's day.
func (s *section) datePlaceholder(field protowire.Number, f form, seconds int32) {
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

// id appends a field with the id that lies so many series behind that of the entry.
func (s *section) id(field protowire.Number, series int32) {
	s.text = protowire.AppendTag(s.text, field, protowire.VarintType)
	s.placeholders = append(s.placeholders, datePlaceholder{at: int32(len(s.text)), form: formID, series: series})
	s.text = protowire.AppendVarint(s.text, uint64(entryid.FirstGenerated))
}

// nested appends a field that holds the message in sub.
func (s *section) nested(field protowire.Number, sub *section) {
	s.text = protowire.AppendTag(s.text, field, protowire.BytesType)
	s.text = protowire.AppendVarint(s.text, uint64(len(sub.text)))
	for _, h := range sub.placeholders {
		h.at += int32(len(s.text))
		s.placeholders = append(s.placeholders, h)
	}
	s.text = append(s.text, sub.text...)
}

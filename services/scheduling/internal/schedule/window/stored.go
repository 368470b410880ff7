package window

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/segment"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
)

var errMalformed = errors.New("the stored message is malformed")

// StoredTemplate cuts a stored item into the sections of a template without placeholders. The
// fields of stored items ascend.
func StoredTemplate(body []byte, k Kind, day civil.Date) (*Template, error) {
	t := &Template{Kind: k, lockedAt: -1, End: civil.SecondsPerDay}
	cut := [2]int{len(body), len(body)}
	for at := 0; at < len(body); {
		number, wire, n := protowire.ConsumeTag(body[at:])
		if n < 0 {
			return nil, errMalformed
		}
		value := body[at+n:]
		size := protowire.ConsumeFieldValue(number, wire, value)
		if size < 0 {
			return nil, errMalformed
		}
		switch {
		case number < versionFields[k] && wire == protowire.BytesType:
			text, _ := protowire.ConsumeBytes(value)
			if err := t.readTime(number, text, day); err != nil {
				return nil, err
			}
		case number == lockedFields[k]:
			t.lockedAt = int32(at + n + size - 1)
		case number > versionFields[k] && cut[0] == len(body):
			cut[0] = at
		}
		if number >= relationFields[k] && cut[1] == len(body) {
			cut[1] = at
		}
		at += n + size
	}
	t.sections = [3]appendSection{{text: body[:cut[0]]}, {text: body[cut[0]:cut[1]]}, {text: body[cut[1]:]}}
	t.size = int32(len(body))
	t.location = string(nestedValue(nestedValue(body, jobPaths[k]...), refQualifier))
	return t, nil
}

// readTime sets the start or the end of the template from a field, in seconds after the midnight of
// its day.
func (t *Template) readTime(number protowire.Number, text []byte, day civil.Date) error {
	switch {
	case t.Kind == KindShift && (number == shiftStart || number == shiftEnd), t.Kind == KindTag && (number == tagStart || number == tagEnd):
		at, err := civil.ParseDateTime(text)
		if err != nil {
			return err
		}
		seconds := int32(at.Date-day)*civil.SecondsPerDay + at.Seconds
		if t.Kind == KindShift && number == shiftStart || t.Kind == KindTag && number == tagStart {
			t.Start = seconds
		} else {
			t.End = seconds
		}
	case t.Kind == KindPayCodeEdit && number == editStart, t.Kind == KindLeaveEdit && number == leaveStart:
		clock, err := civil.ParseTimeOfDay(text)
		if err != nil {
			return err
		}
		t.Start = int32(clock)
	case t.Kind == KindPayCodeEdit && number == editEndDate, t.Kind == KindLeaveEdit && number == leaveEndDate:
		last, err := civil.ParseDate(text)
		if err != nil {
			return err
		}
		t.End = int32(last-day+1) * civil.SecondsPerDay
	}
	return nil
}

// BodyWithoutBreaks merges the breaks of a stored shift into their neighbours.
func BodyWithoutBreaks(body []byte) ([]byte, error) {
	shift := &schedulingv1.Shift{}
	if err := proto.Unmarshal(body, shift); err != nil {
		return nil, err
	}
	if err := segment.MergeBreaks(shift); err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(shift)
}

// referring are the fields of entries that refer to setup.
var referring = func() (all [Kinds]*setupref.Fields) {
	for k := range all {
		all[k] = setupref.FieldsOf(entries[k])
	}
	return all
}()

// BodyWithNames writes the present names of renamed objects into a stored item.
func BodyWithNames(body []byte, k Kind, names *setupref.Names) ([]byte, error) {
	if !referring[k].In(body) {
		return body, nil
	}
	entry := entries[k].ProtoReflect().New().Interface()
	if err := proto.Unmarshal(body, entry); err != nil {
		return nil, err
	}
	if !names.Apply(entry) {
		return body, nil
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(entry)
}

// FirstJob returns the encoded reference of the entry's job, or nil. If the entry has segments, that
// is the job of the first one.
func (t *Template) FirstJob() []byte {
	for i := range t.sections {
		if ref := nestedValue(t.sections[i].text, jobPaths[t.Kind]...); ref != nil {
			return ref
		}
	}
	return nil
}

// nestedValue returns the value of the first field on a path of message fields, or nil.
func nestedValue(message []byte, path ...protowire.Number) []byte {
	for _, number := range path {
		message = firstValue(message, number)
	}
	return message
}

func firstValue(message []byte, target protowire.Number) []byte {
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		size := protowire.ConsumeFieldValue(number, wire, message[n:])
		if size < 0 {
			return nil
		}
		if number == target && wire == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message[n:])
			return value
		}
		message = message[n+size:]
	}
	return nil
}

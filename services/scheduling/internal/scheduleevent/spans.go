package scheduleevent

import (
	"encoding/binary"

	"google.golang.org/protobuf/proto"

	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Spans collects the spans of employees. Employees of the same term mostly have equal spans, which
// are published once. The zero value is ready to use, and so is the value after Reset.
type Spans struct {
	full    []proto.Message
	event   *schedulingv1.SpansChanged
	numbers map[string]int
	size    int
	key     []byte
}

// Reset removes all added spans.
func (s *Spans) Reset() {
	s.full, s.event, s.size = nil, nil, 0
	clear(s.numbers)
}

// Add adds an employee with all of their spans.
func (s *Spans) Add(employeeID int64, spans []span.Span) {
	if s.event == nil {
		s.event = &schedulingv1.SpansChanged{}
		if s.numbers == nil {
			s.numbers = map[string]int{}
		}
	}
	s.key = s.key[:0]
	for i := range spans {
		s.key = appendKey(s.key, &spans[i])
	}
	n, exists := s.numbers[string(s.key)]
	if !exists {
		n = len(s.event.Groups)
		s.numbers[string(s.key)] = n
		group := &schedulingv1.EqualSpans{Spans: states(spans)}
		s.event.Groups = append(s.event.Groups, group)
		s.size += listedSize(group)
	}
	s.event.Groups[n].EmployeeIds = append(s.event.Groups[n].EmployeeIds, employeeID)
	if s.size += binary.MaxVarintLen32; s.size >= eventBytes {
		s.full = append(s.full, s.event)
		s.event, s.size = nil, 0
		clear(s.numbers)
	}
}

// Events returns the added spans as events with the revision.
func (s *Spans) Events(revision int64) []proto.Message {
	events := s.full
	if s.event != nil {
		events = append(events, s.event)
	}
	for _, e := range events {
		e.(*schedulingv1.SpansChanged).Revision = revision
	}
	return events
}

func states(spans []span.Span) []*schedulingv1.SpanState {
	out := make([]*schedulingv1.SpanState, len(spans))
	for i, s := range spans {
		out[i] = &schedulingv1.SpanState{
			Lane: int32(s.Lane), From: int32(s.From), To: int32(s.To),
			PatternId: s.PatternID, Position: s.Position, DayCount: s.DayCount,
		}
	}
	return out
}

// appendKey appends the content of a span, so that equal spans have equal keys.
func appendKey(dst []byte, s *span.Span) []byte {
	dst = binary.AppendVarint(append(dst, s.Lane), int64(s.From))
	dst = binary.AppendVarint(dst, int64(s.To))
	dst = binary.AppendVarint(dst, s.PatternID)
	return binary.AppendVarint(binary.AppendVarint(dst, int64(s.Position)), int64(s.DayCount))
}

package explanation

import (
	"cmp"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// The kinds of layers.
const (
	kindMembership  = "MEMBERSHIP"
	kindAssignment  = "ASSIGNMENT"
	kindPatternDay  = "PATTERN_DAY"
	kindHandEntry   = "HAND_ENTRY"
	kindLeave       = "LEAVE"
	kindDayLock     = "DAY_LOCK"
	kindClockChange = "CLOCK_CHANGE"
)

// The effects of layers on the shifts of the layers below.
const (
	effectProduces = "PRODUCES"
	effectAdds     = "ADDS"
	effectHides    = "HIDES"
	effectFreezes  = "FREEZES"
	effectMoves    = "MOVES"
)

// The outcomes of days.
const (
	outcomeWorks        = "WORKS"
	outcomeFree         = "FREE"
	outcomeLeave        = "LEAVE"
	outcomeRemoved      = "REMOVED"
	outcomeNoAssignment = "NO_ASSIGNMENT"
	outcomeNotEmployed  = "NOT_EMPLOYED"
)

// explainer explains the days of one person. It collects the layers with a time of decision.
type explainer struct {
	decisions *decisions
	person    *reading.PersonOrigins
	decided   []decision

	day    civil.Date
	layers []*schedulingv1.ScheduleLayer
}

// explain returns the explanation of a day, without the employee.
func (e *explainer) explain(day civil.Date) *schedulingv1.ScheduleExplanation {
	e.day, e.layers = day, nil
	e.addMemberships()
	e.addSpans()
	e.addHides()
	e.addEntered()
	e.addLeave()
	e.addLocks()
	e.addClockChanges()
	out := &schedulingv1.ScheduleExplanation{Date: day.String(), Layers: e.layers}
	for _, s := range e.person.Shown {
		if s.Day == day {
			out.ShiftIds = append(out.ShiftIds, s.ID)
		}
	}
	out.Outcome = e.outcome(len(out.ShiftIds) > 0)
	return out
}

// outcome returns the outcome of the day. shown reports that the schedule shows a shift.
func (e *explainer) outcome(shown bool) string {
	hides := func(kind string) bool {
		return slices.ContainsFunc(e.layers, func(l *schedulingv1.ScheduleLayer) bool {
			return l.GetKind() == kind && l.GetEffect() == effectHides && len(l.GetShiftIds()) > 0
		})
	}
	switch {
	case shown:
		return outcomeWorks
	case !e.isEmployed():
		return outcomeNotEmployed
	case hides(kindLeave):
		return outcomeLeave
	case hides(kindHandEntry), hides(kindClockChange):
		return outcomeRemoved
	case slices.ContainsFunc(e.person.Spans, func(s reading.SpanOrigin) bool { return s.Days.Contains(e.day) }):
		return outcomeFree
	default:
		return outcomeNoAssignment
	}
}

// isEmployed reports whether the person is employed on the day.
func (e *explainer) isEmployed() bool {
	employed := e.decisions.employments[e.person.Person.ID]
	return employed.employs(e.day)
}

// add adds a layer on top of the others. A zero time means that nobody decided the layer.
func (e *explainer) add(layer *schedulingv1.ScheduleLayer, at time.Time) {
	if !at.IsZero() {
		layer.DecidedAt = request.FormatInstant(at)
		e.decided = append(e.decided, decision{layer, at})
	}
	e.layers = append(e.layers, layer)
}

func (e *explainer) addMemberships() {
	memberships := e.decisions.memberships[e.person.Person.ID]
	for i := range memberships {
		m := &memberships[i]
		if m.Days.Contains(e.day) {
			e.add(&schedulingv1.ScheduleLayer{
				Kind: kindMembership, Effect: effectProduces, Ref: &commonv1.Ref{Id: proto.Int64(m.TermID), Qualifier: textOrNil(m.Term)},
				Text: membershipText(m),
			}, m.Decided)
		}
	}
}

// addSpans adds the assignments and the days of their patterns. Patterns of terms are below patterns of the employee.
func (e *explainer) addSpans() {
	var spans []*reading.SpanOrigin
	for i := range e.person.Spans {
		if e.person.Spans[i].Days.Contains(e.day) {
			spans = append(spans, &e.person.Spans[i])
		}
	}
	slices.SortStableFunc(spans, func(a, b *reading.SpanOrigin) int {
		return cmp.Or(cmp.Compare(ownOrder(a), ownOrder(b)), cmp.Compare(a.Lane, b.Lane))
	})
	for i, s := range spans {
		effect := effectProduces
		if i > 0 {
			effect = effectAdds
		}
		a := e.assignment(s)
		layer := &schedulingv1.ScheduleLayer{
			Kind: kindAssignment, Effect: effect, Ref: &commonv1.Ref{Id: proto.Int64(s.AssignmentID), Qualifier: textOrNil(s.Pattern)},
			PropagationId: proto.Int64(s.PropagationID), Text: assignmentText(s, a),
		}
		var decided time.Time
		if a != nil {
			layer.Version, layer.Anchor, layer.StartDateOffset = proto.Int64(int64(a.Version)), a.Anchor.String(), proto.Int32(a.Offset)
			layer.DayCount, layer.PropagationId = proto.Int32(a.DayCount), proto.Int64(a.PropagationID)
			decided = a.Decided
		}
		e.add(layer, decided)
		e.addPatternDay(s, a)
	}
}

// ownOrder orders the patterns of terms before the patterns of the employee.
func ownOrder(s *reading.SpanOrigin) int {
	if s.Inherited {
		return 0
	}
	return 1
}

// assignment returns the version of the assignment that puts the day where the span has it: the newest one, unless
// its change has not reached the schedule, for example because the day is locked. It returns nil if the version is
// deleted.
func (e *explainer) assignment(s *reading.SpanOrigin) *assignment {
	versions := e.decisions.assignments[s.AssignmentID]
	for i := range versions {
		if versions[i].puts(s, e.day) {
			return &versions[i]
		}
	}
	return nil
}

func (e *explainer) addPatternDay(s *reading.SpanOrigin, a *assignment) {
	layer := &schedulingv1.ScheduleLayer{
		Kind: kindPatternDay, Effect: effectProduces,
		CycleDay: proto.Int32(s.Position(e.day) + 1), DayCount: proto.Int32(s.DayCount()),
	}
	if s.Pattern != "" {
		layer.Ref = &commonv1.Ref{Qualifier: proto.String(s.Pattern)}
	}
	var shifts []*reading.Produced
	var omitted []int64
	for i := range e.person.Produced {
		p := &e.person.Produced[i]
		if p.Day != e.day || p.Lane != s.Lane {
			continue
		}
		shifts, layer.ShiftIds = append(shifts, p), append(layer.ShiftIds, p.ID)
		if p.Hidden && e.hidingItem(p) == nil {
			omitted = append(omitted, p.ID)
		}
	}
	layer.Text = patternDayText(s, a, e.day, shifts)
	e.add(layer, time.Time{})
	if len(omitted) > 0 {
		e.add(&schedulingv1.ScheduleLayer{Kind: kindClockChange, Effect: effectHides, ShiftIds: omitted, Text: omittedDayText(e.day)}, time.Time{})
	}
}

// hidingItem returns the item that hides a generated shift, or nil.
func (e *explainer) hidingItem(p *reading.Produced) *reading.Hidden {
	at := slices.IndexFunc(e.person.Hides, func(h reading.Hidden) bool { return h.Day == p.Day && h.Lane == p.Lane && h.Ordinal == p.Ordinal })
	if at < 0 {
		return nil
	}
	return &e.person.Hides[at]
}

// addHides adds the generated shifts that people changed or deleted.
func (e *explainer) addHides() {
	for i := range e.person.Produced {
		p := &e.person.Produced[i]
		if p.Day != e.day || !p.Hidden {
			continue
		}
		if h := e.hidingItem(p); h != nil {
			item := e.decisions.items[h.ItemID]
			e.add(&schedulingv1.ScheduleLayer{
				Kind: kindHandEntry, Effect: effectHides, Ref: &commonv1.Ref{Id: proto.Int64(h.ItemID)}, Version: proto.Int64(item.Version),
				ShiftIds: []int64{p.ID}, Text: hideText(p, &item, e.person.Person.ID),
			}, item.Decided)
		}
	}
}

// addEntered adds the shifts that people entered or changed.
func (e *explainer) addEntered() {
	for i := range e.person.Entered {
		s := &e.person.Entered[i]
		if s.TimeOff || s.First != e.day {
			continue
		}
		item := e.decisions.items[s.ID]
		e.add(&schedulingv1.ScheduleLayer{
			Kind: kindHandEntry, Effect: effectAdds, Ref: &commonv1.Ref{Id: proto.Int64(s.ID)}, Version: proto.Int64(item.Version),
			ShiftIds: []int64{s.ID}, Text: enteredText(s),
		}, item.Decided)
	}
}

// addLeave adds the leave edits and the time off that touch the day or one of its shifts.
func (e *explainer) addLeave() {
	locked := slices.ContainsFunc(e.person.Locks, func(l window.Lock) bool { return l.Days.Contains(e.day) })
	for i := range e.person.Leave {
		l := &e.person.Leave[i]
		holds := l.Locked.Contains(e.day) || !locked && l.Locked.Empty()
		cuts := e.cuts(l.ID)
		if !holds || len(cuts) == 0 && (l.First > e.day || l.Last < e.day) {
			continue
		}
		e.add(leaveLayer("Leave", l.ID, l.Version, cuts), e.decisions.leave[l.ID])
	}
	for i := range e.person.Entered {
		t := &e.person.Entered[i]
		if t.TimeOff && t.First <= e.day && e.day <= t.Last {
			item := e.decisions.items[t.ID]
			e.add(leaveLayer("Time off", t.ID, item.Version, e.cuts(t.ID)), item.Decided)
		}
	}
}

// cuts returns the cuts of the day's shifts by a leave edit or time off.
func (e *explainer) cuts(by int64) []*reading.Cut {
	var out []*reading.Cut
	for i := range e.person.Cuts {
		if c := &e.person.Cuts[i]; c.By == by && c.Day == e.day {
			out = append(out, c)
		}
	}
	return out
}

func leaveLayer(name string, id, version int64, cuts []*reading.Cut) *schedulingv1.ScheduleLayer {
	layer := &schedulingv1.ScheduleLayer{
		Kind: kindLeave, Effect: effectHides, Ref: &commonv1.Ref{Id: proto.Int64(id)}, Version: proto.Int64(version), Text: leaveText(name, cuts),
	}
	for _, c := range cuts {
		if c.Whole {
			layer.ShiftIds = append(layer.ShiftIds, c.ShiftID)
		}
	}
	return layer
}

func (e *explainer) addLocks() {
	for i := range e.person.Locks {
		l := &e.person.Locks[i]
		if l.Days.Contains(e.day) {
			e.add(&schedulingv1.ScheduleLayer{
				Kind: kindDayLock, Effect: effectFreezes, Ref: &commonv1.Ref{Id: proto.Int64(l.ID)}, Text: lockText(l.Days),
			}, e.decisions.locks[l.ID])
		}
	}
}

// addClockChanges adds the shifts whose times a clock change skips.
func (e *explainer) addClockChanges() {
	for i := range e.person.Shown {
		if s := &e.person.Shown[i]; s.Day == e.day && s.Moved {
			e.add(&schedulingv1.ScheduleLayer{
				Kind: kindClockChange, Effect: effectMoves, ShiftIds: []int64{s.ID}, Text: movedText(s),
			}, time.Time{})
		}
	}
}

// textOrNil returns a text, or nil if it is empty.
func textOrNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

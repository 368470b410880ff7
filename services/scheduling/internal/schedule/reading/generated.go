package reading

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/projection"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// Generated is an entry that a pattern generates and that no item replaces.
type Generated struct {
	ID, EmployeeID int64
	// Day is the day that the entry belongs to. Locked reports whether that day is locked.
	Day    civil.Date
	Locked bool
	// Version is the version of the span that generates the entry.
	Version int64

	// Origin and Slot describe the entry for an item that replaces and hides it.
	Origin hiddenentry.Entered
	Slot   hiddenentry.Slot

	kind     window.Kind
	template *window.Template
	relation window.Relation
}

// readSlotsSQL finds the span that may generate each entry. If the series of two spans are close,
// the entry belongs to the later span, because no number belongs to two series. An entry with an
// item in its slot is marked as hidden.
const readSlotsSQL = `
SELECT r.id, EXISTS (SELECT FROM day_lock l WHERE l.tenant_id = $1 AND l.employee_id = s.employee_id
                     AND l.from_date <= r.day AND l.to_date > r.day),
       EXISTS (SELECT FROM schedule_item i WHERE i.tenant_id = $1 AND i.hides_employee_id = s.employee_id AND i.hides_day = r.day
               AND i.hidden_lane = s.lane AND i.hidden_ordinal = r.series - s.series),
       s.pattern_id, s.from_date, s.to_date,
       s.position, s.assignment_id, s.inherited, s.propagation_id, s.employee_id, s.lane, s.series,
       coalesce((SELECT a.lineage_id FROM pattern_assignment a WHERE a.tenant_id = $1 AND a.id = s.assignment_id LIMIT 1), s.assignment_id)
FROM unnest($2::bigint[], $3::bigint[], $4::date[]) AS r (id, series, day)
CROSS JOIN LATERAL (
    SELECT * FROM span WHERE tenant_id = $1 AND series <= r.series AND series > r.series - 16
    AND from_date <= r.day AND to_date > r.day ORDER BY series DESC LIMIT 1
) AS s`

// ReadGenerated returns the generated entries with the ids, by id. It omits ids that no pattern
// generates and entries that an item replaced.
func (r *Reader) ReadGenerated(ctx context.Context, db pg.Querier, ids []int64) (map[int64]*Generated, error) {
	slots, err := readSlots(ctx, db, ids)
	if err != nil || len(slots) == 0 {
		return nil, err
	}
	patternIDs := make([]int64, len(slots))
	for i := range slots {
		patternIDs[i] = slots[i].span.PatternID
	}
	patterns, err := r.patterns.get(ctx, db, patternIDs, form{})
	if err != nil {
		return nil, err
	}
	out := make(map[int64]*Generated, len(slots))
	for i := range slots {
		if entry := slots[i].generate(patterns[i]); entry != nil {
			out[entry.ID] = entry
		}
	}
	return out, nil
}

// slot is the place of a generated entry, with the span that may generate it.
type slot struct {
	id      int64
	at      entryid.Entry
	locked  bool
	hidden  bool // by an item
	span    storedrows.Span
	lineage int64
}

func readSlots(ctx context.Context, db pg.Querier, ids []int64) ([]slot, error) {
	var entryIDs, series []int64
	var days []civil.Date
	for _, id := range ids {
		at, err := entryid.Decode(id)
		if err != nil {
			continue
		}
		entryIDs, series, days = append(entryIDs, id), append(series, at.Series), append(days, at.Day)
	}
	if len(entryIDs) == 0 {
		return nil, nil
	}
	var slots []slot
	var s slot
	var lane int16
	err := pg.ForEach(ctx, db, []any{
		&s.id, &s.locked, &s.hidden, &s.span.PatternID, &s.span.Days.From, &s.span.Days.To,
		&s.span.Position, &s.span.AssignmentID, &s.span.Inherited, &s.span.PropagationID,
		&s.span.EmployeeID, &lane, &s.span.Series, &s.lineage,
	}, func() (err error) {
		s.at, err = entryid.Decode(s.id)
		s.span.Lane = uint8(lane)
		if !s.hidden {
			slots = append(slots, s)
		}
		return err
	}, readSlotsSQL, tenant.Of(ctx), entryIDs, series, days)
	if err != nil {
		return nil, fmt.Errorf("schedule: read spans of entries: %w", err)
	}
	return slots, nil
}

// generate returns the entry of the slot, or nil if the pattern has no entry there.
func (s *slot) generate(pattern *window.Pattern) *Generated {
	position := pattern.Cycle.Position(s.span.Days.From, s.span.Position, s.at.Day)
	day, ordinal := pattern.Cycle.Day(position), s.at.Series-s.span.Series
	if ordinal >= int64(len(day)) {
		return nil
	}
	t := &pattern.Templates[day[ordinal].Template]
	return &Generated{
		ID: s.id, EmployeeID: s.span.EmployeeID, Day: s.at.Day, Locked: s.locked, Version: s.span.PropagationID,
		Origin: hiddenentry.Entered{
			EmployeeID: s.span.EmployeeID, Day: s.at.Day, LineageID: s.lineage,
			PatternID: s.span.PatternID, CycleDay: position, Ordinal: uint8(ordinal),
		},
		Slot: hiddenentry.Slot{Lane: s.span.Lane, Ordinal: uint8(ordinal)},
		kind: t.Kind, template: t, relation: window.Relation{AssignmentID: s.span.AssignmentID, Inherited: s.span.Inherited, Pattern: pattern.Name},
	}
}

// IsShift reports whether the entry is a shift.
func (g *Generated) IsShift() bool { return g.kind == window.KindShift }

// IsPayCodeEdit reports whether the entry is a pay code edit.
func (g *Generated) IsPayCodeEdit() bool { return g.kind == window.KindPayCodeEdit }

// IsTag reports whether the entry is a schedule tag.
func (g *Generated) IsTag() bool { return g.kind == window.KindTag }

// Shift returns the shift without its employee. Wall-clock times are in the zone. job is
// the employee's primary job on the day, or the zero Job.
func (g *Generated) Shift(zone *civil.Zone, job projection.Job) (*schedulingv1.Shift, error) {
	out := &schedulingv1.Shift{}
	shown, err := g.withJob(job)
	if err != nil {
		return nil, err
	}
	err = shown.decode(zone, out)
	out.Employee = nil
	return out, err
}

// PayCodeEdit returns the pay code edit without its employee. Wall-clock times are in the zone. job
// is the employee's primary job on the day, or the zero Job.
func (g *Generated) PayCodeEdit(zone *civil.Zone, job projection.Job) (*schedulingv1.PayCodeEdit, error) {
	out := &schedulingv1.PayCodeEdit{}
	shown, err := g.withJob(job)
	if err != nil {
		return nil, err
	}
	err = shown.decode(zone, out)
	out.Employee = nil
	return out, err
}

// withJob returns the entry with the primary job filled in. The zero Job changes nothing.
func (g *Generated) withJob(job projection.Job) (*Generated, error) {
	if job.Path == "" {
		return g, nil
	}
	shown := *g
	var err error
	shown.template, err = g.template.WithJob(window.NewJob(job))
	return &shown, err
}

// Tag returns the schedule tag without its employee. Wall-clock times are in the zone.
func (g *Generated) Tag(zone *civil.Zone) (*schedulingv1.ScheduleTag, error) {
	out := &schedulingv1.ScheduleTag{}
	err := g.decode(zone, out)
	out.Employee = nil
	return out, err
}

// emptyMessage is a message of length 0. It stands in for the employee, which the entry omits.
var emptyMessage = []byte{0}

func (g *Generated) decode(zone *civil.Zone, into proto.Message) error {
	relations, err := g.relation.Field()
	if err != nil {
		return err
	}
	days := civil.Range{From: g.Day, To: g.Day + 1}
	b := &window.Window{Persons: []window.Person{{Ref: emptyMessage, Zone: window.ClockChanges(zone, days)}}, Relations: [][]byte{relations}}
	message, err := b.Message(&window.Entry{Template: g.template, ID: g.ID, Version: g.Version, Day: g.Day, Locked: g.Locked})
	if err != nil {
		return err
	}
	return proto.Unmarshal(message, into)
}

package reading

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/entryid"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/encoding"
)

// Generated is an entry that a pattern puts on an employee's schedule and that
// nobody has touched.
type Generated struct {
	ID, EmployeeID int64
	// Day is the day that the entry belongs to; Locked reports whether it is.
	Day    civil.Date
	Locked bool
	// Version is that of the span that generates the entry.
	Version int64

	// Origin is what an item that takes the entry's place hides, and Slot where.
	Origin hiddenentry.Entered
	Slot   hiddenentry.Slot

	kind     encoding.Kind
	template *encoding.Template
	relation encoding.Relation
}

// The span that may generate each entry. Of two whose series are close, the later
// one does: no number belongs to two series. Somebody touched what has an item.
const readSlots = `
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

// Generated returns the generated entries of the ids, by id. Those that no
// pattern generates, and those that somebody has touched, are absent.
func (r *Reader) Generated(ctx context.Context, db pg.Querier, tenantID int64, ids []int64) (map[int64]*Generated, error) {
	slots, err := readSlotsOf(ctx, db, tenantID, ids)
	if err != nil || len(slots) == 0 {
		return nil, err
	}
	patternIDs := make([]int64, len(slots))
	for i := range slots {
		patternIDs[i] = slots[i].span.patternID
	}
	patterns, err := r.patterns.get(ctx, db, tenantID, patternIDs, false)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]*Generated, len(slots))
	for i := range slots {
		if made := slots[i].generate(patterns[i]); made != nil {
			out[made.ID] = made
		}
	}
	return out, nil
}

// slot is where a generated entry stands, with the span that may generate it.
type slot struct {
	id      int64
	at      entryid.Entry
	locked  bool
	hidden  bool // by an item
	span    spanRow
	lineage int64
}

func readSlotsOf(ctx context.Context, db pg.Querier, tenantID int64, ids []int64) ([]slot, error) {
	var wanted, series []int64
	var days []civil.Date
	for _, id := range ids {
		at, err := entryid.Decode(id)
		if err != nil {
			continue
		}
		wanted, series, days = append(wanted, id), append(series, at.Series), append(days, at.Day)
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	var slots []slot
	var s slot
	var lane int16
	err := pg.ForEach(ctx, db, []any{
		&s.id, &s.locked, &s.hidden, &s.span.patternID, &s.span.days.From, &s.span.days.To,
		&s.span.position, &s.span.assignmentID, &s.span.inherited, &s.span.propagationID,
		&s.span.employeeID, &lane, &s.span.series, &s.lineage,
	}, func() (err error) {
		s.at, err = entryid.Decode(s.id)
		s.span.lane = uint8(lane)
		if !s.hidden {
			slots = append(slots, s)
		}
		return err
	}, readSlots, tenantID, wanted, series, days)
	if err != nil {
		return nil, fmt.Errorf("schedule: read spans of entries: %w", err)
	}
	return slots, nil
}

// generate returns the entry of the slot, or nil when the pattern has none
// there.
func (s *slot) generate(pattern *encoding.Pattern) *Generated {
	position := pattern.Cycle.Position(s.span.days.From, s.span.position, s.at.Day)
	day, ordinal := pattern.Cycle.Day(position), s.at.Series-s.span.series
	if ordinal >= int64(len(day)) {
		return nil
	}
	t := &pattern.Templates[day[ordinal].Template]
	return &Generated{
		ID: s.id, EmployeeID: s.span.employeeID, Day: s.at.Day, Locked: s.locked, Version: s.span.propagationID,
		Origin: hiddenentry.Entered{
			EmployeeID: s.span.employeeID, Day: s.at.Day, LineageID: s.lineage,
			PatternID: s.span.patternID, CycleDay: position, Ordinal: uint8(ordinal),
		},
		Slot: hiddenentry.Slot{Lane: s.span.lane, Ordinal: uint8(ordinal)},
		kind: t.Kind, template: t, relation: encoding.Relation{AssignmentID: s.span.assignmentID, Inherited: s.span.inherited, Pattern: pattern.Name},
	}
}

// IsShift reports whether the entry is a shift.
func (g *Generated) IsShift() bool { return g.kind == encoding.KindShift }

// IsPayCodeEdit reports whether the entry is a pay code edit.
func (g *Generated) IsPayCodeEdit() bool { return g.kind == encoding.KindPayCodeEdit }

// IsTag reports whether the entry is a schedule tag.
func (g *Generated) IsTag() bool { return g.kind == encoding.KindTag }

// Shift returns the entry, without its employee, whose wall-clock times are in
// the zone, and whose primary job on its day has a path, or "".
func (g *Generated) Shift(zone *civil.Zone, job string) (*schedulingv1.Shift, error) {
	out := &schedulingv1.Shift{}
	shown, err := g.onJob(job)
	if err != nil {
		return nil, err
	}
	err = shown.decode(zone, out)
	out.Employee = nil
	return out, err
}

// PayCodeEdit returns the entry, without its employee, whose wall-clock times
// are in the zone, and whose primary job on its day has a path, or "".
func (g *Generated) PayCodeEdit(zone *civil.Zone, job string) (*schedulingv1.PayCodeEdit, error) {
	out := &schedulingv1.PayCodeEdit{}
	shown, err := g.onJob(job)
	if err != nil {
		return nil, err
	}
	err = shown.decode(zone, out)
	out.Employee = nil
	return out, err
}

// onJob returns the entry for somebody whose primary job has a path, or "".
func (g *Generated) onJob(path string) (*Generated, error) {
	if path == "" {
		return g, nil
	}
	shown := *g
	var err error
	shown.template, err = g.template.WithJob(encoding.NewJob(path))
	return &shown, err
}

// Tag returns the entry, without its employee, whose wall-clock times are in the zone.
func (g *Generated) Tag(zone *civil.Zone) (*schedulingv1.ScheduleTag, error) {
	out := &schedulingv1.ScheduleTag{}
	err := g.decode(zone, out)
	out.Employee = nil
	return out, err
}

// emptyMessage stands where the employee is left out: a message of length 0.
var emptyMessage = []byte{0}

func (g *Generated) decode(zone *civil.Zone, into proto.Message) error {
	relations, err := g.relation.Field()
	if err != nil {
		return err
	}
	days := civil.Range{From: g.Day, To: g.Day + 1}
	b := &encoding.Window{Persons: []encoding.Person{{Ref: emptyMessage, Zone: encoding.ClockChanges(zone, days)}}, Relations: [][]byte{relations}}
	message, err := b.Message(&encoding.Entry{Template: g.template, ID: g.ID, Version: g.Version, Day: g.Day, Locked: g.Locked})
	if err != nil {
		return err
	}
	return proto.Unmarshal(message, into)
}

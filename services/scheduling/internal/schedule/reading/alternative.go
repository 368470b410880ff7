package reading

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/setupref"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Alternative replaces the stored spans of an employee, and what follows from them.
type Alternative struct {
	EmployeeID int64
	Spans      []span.Span
	// Hides are all items that hide an entry of the employee, with the slots in Spans.
	Hides []hiddenentry.Hide
}

// PlannedShift is a shift of an employee for comparisons. Its times respect clock changes.
type PlannedShift struct {
	EmployeeID int64
	Summary
	// Content is equal for shifts with equal content of one [Comparison]. It covers everything but
	// the days, the ids and the assignment that generates the shift.
	Content int32
}

// Comparison reads several alternatives of the same employees and days. It is not safe for
// concurrent use.
type Comparison struct {
	reader   *Reader
	query    *request.Query
	persons  []window.Person
	rows     storedrows.Rows
	unstored *UnstoredPatterns
	contents map[string]int32
	// special are the employees with entries or leave that people made.
	special map[int64]bool
	zones   map[*window.ZoneDays]int64
}

// UnstoredPatterns are patterns that are not stored, by id. They are compiled once. It is not safe
// for concurrent use.
type UnstoredPatterns struct {
	patterns map[int64]*schedulingv1.SchedulePattern
	// names is the digest of the names in compiled.
	names    string
	compiled map[int64]*window.Pattern
}

// NewUnstoredPatterns returns patterns for [Reader.Compare]. Their ids must be negative.
func NewUnstoredPatterns(patterns map[int64]*schedulingv1.SchedulePattern) *UnstoredPatterns {
	return &UnstoredPatterns{patterns: patterns, compiled: map[int64]*window.Pattern{}}
}

// get returns a compiled pattern with the present names of renamed objects.
func (u *UnstoredPatterns) get(id int64, names *setupref.Names) (*window.Pattern, error) {
	if digest := names.Digest(); digest != u.names {
		u.names, u.compiled = digest, map[int64]*window.Pattern{}
	}
	if p := u.compiled[id]; p != nil {
		return p, nil
	}
	pattern := proto.CloneOf(u.patterns[id])
	names.Apply(pattern)
	p, err := window.Compile(pattern, false)
	if err != nil {
		return nil, fmt.Errorf("schedule: compile pattern: %w", err)
	}
	u.compiled[id] = p
	return p, nil
}

// Compare reads the rows of employees, whose ids ascend, for a comparison of their shifts that
// belong to the days. It does not check access.
func (r *Reader) Compare(ctx context.Context, ids []int64, days civil.Range, unstored *UnstoredPatterns) (*Comparison, error) {
	c := &Comparison{
		reader: r, unstored: unstored, contents: map[string]int32{},
		query: &request.Query{Selected: request.SelectShifts, Days: days, ExcludeOvernight: true},
	}
	var err error
	if c.persons, err = r.zonedPersons(ctx, ids, days); err != nil {
		return nil, err
	}
	if c.rows, err = r.Rows(ctx, c.query, window.PersonIDs(c.persons), false); err != nil {
		return nil, err
	}
	c.special, c.zones = map[int64]bool{}, map[*window.ZoneDays]int64{}
	for i := range c.rows.Items {
		c.special[c.rows.Items[i].EmployeeID] = true
	}
	for i := range c.rows.Leave {
		c.special[c.rows.Leave[i].EmployeeID] = true
	}
	for i := range c.rows.LockedLeave {
		c.special[c.rows.LockedLeave[i].EmployeeID] = true
	}
	for i := range c.persons {
		if zone := c.persons[i].Zone; c.zones[zone] == 0 {
			c.zones[zone] = int64(len(c.zones) + 1)
		}
	}
	return c, nil
}

// AppendKey appends a key of the shifts of an alternative: alternatives with the same key have the
// same shifts, apart from their ids. It returns nil if the shifts also depend on entries or leave.
func (c *Comparison) AppendKey(key []byte, a *Alternative) []byte {
	if len(a.Hides) > 0 || c.special[a.EmployeeID] {
		return nil
	}
	zone := int64(0) // The employee is unknown, and has no shifts.
	at, found := slices.BinarySearchFunc(c.persons, a.EmployeeID, func(p window.Person, id int64) int { return cmp.Compare(p.ID, id) })
	if found {
		zone = c.zones[c.persons[at].Zone]
	}
	key = binary.AppendVarint(key, zone)
	days := c.spanDays()
	for i := range a.Spans {
		s := &a.Spans[i]
		if !s.Days().Overlaps(days) {
			continue
		}
		for _, n := range []int64{int64(s.From), int64(s.To), int64(s.Position), int64(s.DayCount), s.PatternID, int64(s.Lane)} {
			key = binary.AppendVarint(key, n)
		}
	}
	return key
}

// spanDays returns the days whose spans can have shifts that belong to the days of the comparison.
func (c *Comparison) spanDays() civil.Range {
	return civil.Range{From: c.query.Days.From.AddDays(-window.Lookback), To: c.query.Days.To}
}

// Shifts returns the shifts of an alternative, by employee and start. The list ascends by employee.
func (c *Comparison) Shifts(ctx context.Context, list []Alternative) ([]PlannedShift, error) {
	rows := c.rows
	rows.Spans, rows.Hidden = nil, nil
	withdrawn := map[int64]bool{}
	for i := range list {
		c.addAlternative(&rows, &list[i], withdrawn)
	}
	var err error
	if rows.Items, err = c.items(ctx, withdrawn); err != nil {
		return nil, err
	}
	rows.Sort()
	patterns, err := c.patterns(ctx, rows.Spans)
	if err != nil {
		return nil, err
	}
	w, err := expand(c.query, c.persons, rows, patterns)
	if err != nil {
		return nil, err
	}
	return c.shifts(w)
}

// addAlternative adds the spans and the hidden slots of an employee that touch the days. It records
// for each item whether it is withdrawn.
func (c *Comparison) addAlternative(rows *storedrows.Rows, a *Alternative, withdrawn map[int64]bool) {
	days := c.spanDays()
	for _, s := range a.Spans {
		if s.Days().Overlaps(days) {
			rows.Spans = append(rows.Spans, storedrows.Span{
				EmployeeID: a.EmployeeID, PatternID: s.PatternID, AssignmentID: s.AssignmentID, Series: s.Series, Days: s.Days(),
				Position: s.Position, Lane: s.Lane, Inherited: s.Inherited,
			})
		}
	}
	for i := range a.Hides {
		h := &a.Hides[i]
		withdrawn[h.ItemID] = h.Withdrawn
		if h.Slot != nil && days.Contains(h.Day) {
			rows.Hidden = append(rows.Hidden, storedrows.HiddenSlot{EmployeeID: h.EmployeeID, Day: h.Day, Lane: h.Slot.Lane, Ordinal: h.Slot.Ordinal})
		}
	}
}

// readWithdrawn reads withdrawn items that touch the days.
const readWithdrawn = `
SELECT employee_id, id, version, from_day, to_day, covers, body FROM schedule_item
WHERE tenant_id = $1 AND id = ANY($2) AND kind = 'SHIFT' AND withdrawn AND NOT deleted AND from_day < $4 AND to_day >= $3`

// items returns the shown items of an alternative. withdrawn has the items that follow from spans.
func (c *Comparison) items(ctx context.Context, withdrawn map[int64]bool) ([]storedrows.Item, error) {
	items := slices.Clone(c.rows.Items)
	items = slices.DeleteFunc(items, func(row storedrows.Item) bool { return withdrawn[row.ID] })
	shown := make(map[int64]bool, len(items))
	for i := range items {
		shown[items[i].ID] = true
	}
	var missing []int64
	for id, hidden := range withdrawn {
		if !hidden && !shown[id] {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return items, nil
	}
	slices.Sort(missing)
	row := storedrows.Item{Kind: window.KindShift}
	var body []byte
	err := pg.ForEach(ctx, c.reader.db, []any{&row.EmployeeID, &row.ID, &row.Version, &row.Day, &row.Last, &row.Covers, &body}, func() (err error) {
		row.Body = slices.Clone(body)
		if c.rows.Names != nil {
			row.Body, err = window.BodyWithNames(row.Body, row.Kind, c.rows.Names)
		}
		items = append(items, row)
		return err
	}, readWithdrawn, tenant.Of(ctx), missing, c.query.Days.From, c.query.Days.To)
	if err != nil {
		return nil, fmt.Errorf("schedule: read withdrawn items: %w", err)
	}
	return items, nil
}

// patterns returns the pattern of each span.
func (c *Comparison) patterns(ctx context.Context, spans []storedrows.Span) ([]*window.Pattern, error) {
	stored := slices.DeleteFunc(slices.Clone(spans), func(s storedrows.Span) bool { return s.PatternID < 0 })
	found, err := c.reader.spanPatterns(ctx, stored, form{names: c.rows.Names})
	if err != nil {
		return nil, err
	}
	out := make([]*window.Pattern, len(spans))
	for i := range spans {
		if spans[i].PatternID > 0 {
			out[i], found = found[0], found[1:]
		} else if out[i], err = c.unstored.get(spans[i].PatternID, c.rows.Names); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (c *Comparison) shifts(w *window.Window) ([]PlannedShift, error) {
	b := &summaryBuilder{Window: w, shapes: map[*window.Template]*shape{}}
	contents := map[*window.Template]int32{}
	entries := w.Entries[window.KindShift]
	out := make([]PlannedShift, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		if !w.Days.Contains(e.Day) {
			continue
		}
		content, known := contents[e.Template]
		if !known {
			text, err := shiftContent(e.Template)
			if err != nil {
				return nil, fmt.Errorf("schedule: shift %d: %w", e.ID, err)
			}
			if content, known = c.contents[text]; !known {
				content = int32(len(c.contents))
				c.contents[text] = content
			}
			contents[e.Template] = content
		}
		summary, err := b.summary(e, ShiftSummary)
		if err != nil {
			return nil, fmt.Errorf("schedule: shift %d: %w", e.ID, err)
		}
		if zone := w.Persons[e.Employee].Zone; e.Template.Relative() {
			_, end := zone.Forward(e.Day, int64(e.Template.Start), int64(e.Template.End), nil)
			summary.Start, summary.End = zone.Adjust(summary.Start), int64(e.Day)*civil.SecondsPerDay+end
		}
		out = append(out, PlannedShift{EmployeeID: w.Persons[e.Employee].ID, Summary: summary, Content: content})
	}
	slices.SortStableFunc(out, func(a, b PlannedShift) int {
		return cmp.Or(cmp.Compare(a.EmployeeID, b.EmployeeID), cmp.Compare(a.Day, b.Day), cmp.Compare(a.Start, b.Start),
			cmp.Compare(a.End, b.End), cmp.Compare(a.Content, b.Content))
	})
	return out, nil
}

// shiftContent returns the content of the shifts of a template. The template of a stored shift, and
// of a shift that leave cuts, has ids and relations, which do not count.
func shiftContent(t *window.Template) (string, error) {
	if t.Relative() {
		return string(t.Text()), nil
	}
	shift := &schedulingv1.Shift{}
	if err := proto.Unmarshal(t.Text(), shift); err != nil {
		return "", err
	}
	shift.Relations = nil
	for _, s := range shift.GetSegments() {
		s.Id = nil
	}
	text, err := proto.MarshalOptions{Deterministic: true}.Marshal(shift)
	return string(text), err
}

package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/rotation"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedulewarning"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

const (
	readZones = `
SELECT e.id, e.time_zone` + overRanges + `
    SELECT * FROM employee WHERE tenant_id = $1 AND id BETWEEN r.first AND r.last OFFSET 0
) AS e ORDER BY e.id`

	// Shifts that begin up to a week before the window can reach into it.
	readHandShifts = `
SELECT i.employee_id, i.id, i.withdrawn, i.body` + overRanges + `
    SELECT * FROM schedule_item
    WHERE tenant_id = $1 AND employee_id BETWEEN r.first AND r.last AND from_day BETWEEN $4::date - 7 AND $5
        AND kind = 'SHIFT' AND NOT deleted OFFSET 0
) AS i ORDER BY i.employee_id`
)

// changedEmployee is an employee whose schedule changes.
type changedEmployee struct {
	id            int64
	before, after []span.Span
}

// keep remembers the spans of a changed employee for the warnings.
func (c *Changes) keep(employee int64, before, after []span.Span) {
	n := len(c.kept)
	c.kept = append(append(c.kept, before...), after...)
	middle := n + len(before)
	c.changed = append(c.changed, changedEmployee{employee, c.kept[n:middle:middle], c.kept[middle:len(c.kept):len(c.kept)]})
}

// warnings finds the warnings of changed employees. Its memory is reused for the next batch.
type warnings struct {
	finder   schedulewarning.Finder
	patterns map[int64]*rotation.Pattern
	tenantID int64
	names    civil.Zones
	zones    list[*civil.Zone]
	entries  list[schedulewarning.HandEntry]
	// withdrawn says of items whether they are not shown, if a forecast expects another state than
	// the stored one.
	withdrawn map[int64]bool
	hidden    []schedulewarning.HiddenShift
	gone      []civil.Date
}

// maxPatterns limits the compiled patterns that are kept for the next batches.
const maxPatterns = 1000

// utc is the zone of employees without a known zone.
var utc = func() *civil.Zone {
	zone, err := civil.LoadZone("UTC")
	if err != nil {
		panic(err) // The time zone database is part of the program.
	}
	return zone
}()

// FindWarnings finds the reasons to look at the changed schedules. It runs after UpdateHidden.
func (c *Changes) FindWarnings(ctx context.Context, db pg.Querier) error {
	w := &c.warnings
	if err := w.load(ctx, db, c.changed); err != nil {
		return err
	}
	edited, unchanged := c.edited, []editedEmployee{}
	for i := range c.changed {
		one := &c.changed[i]
		for len(edited) > 0 && edited[0].employee < one.id {
			unchanged, edited = append(unchanged, edited[0]), edited[1:]
		}
		var own *editedEmployee
		if len(edited) > 0 && edited[0].employee == one.id {
			own, edited = &edited[0], edited[1:]
		}
		c.addWarnings(one.id, w.find(one, own))
	}
	for _, one := range append(unchanged, edited...) {
		c.addWarnings(one.employee, w.findWithdrawn(one.withdrawn))
	}
	return nil
}

// addWarnings adds the warnings of an employee.
func (c *Changes) addWarnings(employee int64, list []schedulewarning.Warning) {
	for i := range list {
		c.addWarning(employee, &list[i])
	}
}

// find returns the warnings of a changed employee. edited are the employee's changed entries, or nil.
// Successive calls must ask for ascending employees.
func (w *warnings) find(one *changedEmployee, edited *editedEmployee) []schedulewarning.Warning {
	change := schedulewarning.Change{Before: one.before, After: one.after, Zone: utc, HandEntries: w.entries.next(one.id)}
	if zones := w.zones.next(one.id); len(zones) > 0 {
		change.Zone = zones[0]
	}
	if edited != nil {
		w.addHidden(&change, edited)
	}
	return w.finder.Find(&change)
}

// findWithdrawn returns the warnings of an employee of whom only entries change.
func (w *warnings) findWithdrawn(days []civil.Date) []schedulewarning.Warning {
	return w.finder.Find(&schedulewarning.Change{Zone: utc, Withdrawn: days})
}

// addHidden adds the entries that the changed and deleted entries of an employee hide, and the
// changed entries that are no longer shown.
func (w *warnings) addHidden(change *schedulewarning.Change, one *editedEmployee) {
	w.hidden, w.gone = w.hidden[:0], append(w.gone[:0], one.withdrawn...)
	for i := range one.hides {
		if h := &one.hides[i]; h.Slot != nil {
			w.hidden = append(w.hidden, schedulewarning.HiddenShift{Day: h.Day, Lane: h.Slot.Lane, Ordinal: h.Slot.Ordinal})
		}
	}
	change.Hidden, change.Withdrawn = w.hidden, w.gone
}

// load reads the shifts and entries that the warnings of the changed employees depend on.
func (w *warnings) load(ctx context.Context, db pg.Querier, changed []changedEmployee) error {
	w.zones.reset()
	w.entries.reset()
	tenantID, days := tenant.Of(ctx), civil.Range{}
	employees := make([]int64, len(changed))
	for i := range changed {
		employees[i] = changed[i].id
		if window := schedulewarning.Window(changed[i].before, changed[i].after); days.Empty() {
			days = window
		} else if !window.Empty() {
			days = civil.Range{From: min(days.From, window.From), To: max(days.To, window.To)}
		}
	}
	if days.Empty() { // The change only removes shifts.
		return nil
	}
	if err := w.loadPatterns(ctx, db, changed); err != nil {
		return err
	}
	first, last := ranges(employees)
	batch := &pgx.Batch{}
	batch.Queue(readZones, tenantID, first, last).Query(w.scanZones)
	batch.Queue(readHandShifts, tenantID, first, last, days.From, days.To).Query(w.scanHandShifts)
	if err := db.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("propagation: read entries: %w", err)
	}
	return nil
}

// loadPatterns compiles the patterns that are not compiled yet.
func (w *warnings) loadPatterns(ctx context.Context, db pg.Querier, changed []changedEmployee) error {
	if tenantID := tenant.Of(ctx); w.patterns == nil || w.tenantID != tenantID || len(w.patterns) > maxPatterns {
		w.patterns, w.tenantID = map[int64]*rotation.Pattern{}, tenantID
		w.finder = schedulewarning.Finder{Pattern: func(id int64) *rotation.Pattern { return w.patterns[id] }}
	}
	var missing []int64
	for i := range changed {
		for k := range changed[i].after {
			id := changed[i].after[k].PatternID
			if _, known := w.patterns[id]; !known {
				missing, w.patterns[id] = append(missing, id), nil
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var id int64
	var body []byte
	err := pg.ForEach(ctx, db, []any{&id, &body}, func() (err error) {
		w.patterns[id], err = compileCycle(body)
		return err
	}, selectPatterns, w.tenantID, missing)
	if err != nil {
		w.patterns = nil
		return fmt.Errorf("propagation: read patterns: %w", err)
	}
	return nil
}

// compileCycle compiles a stored pattern, or returns nil for a pattern without entries.
func compileCycle(body []byte) (*rotation.Pattern, error) {
	pattern := &schedulingv1.SchedulePattern{}
	if err := proto.Unmarshal(body, pattern); err != nil || len(pattern.GetItems()) == 0 {
		return nil, err
	}
	compiled, err := window.Compile(pattern, false)
	if err != nil {
		return nil, err
	}
	return compiled.Cycle, nil
}

func (w *warnings) scanZones(rows pgx.Rows) error {
	var id int64
	var name string
	_, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error {
		zone, err := w.names.Get(name)
		if err != nil {
			zone = utc // A zone that only a newer time zone database has must not stop the propagation.
		}
		w.zones.add(id, zone)
		return nil
	})
	return err
}

func (w *warnings) scanHandShifts(rows pgx.Rows) error {
	var employee, item int64
	var withdrawn bool
	var body []byte
	_, err := pgx.ForEachRow(rows, []any{&employee, &item, &withdrawn, &body}, func() error {
		if expected, known := w.withdrawn[item]; known {
			withdrawn = expected
		}
		if withdrawn {
			return nil
		}
		shift := &schedulingv1.Shift{}
		if err := proto.Unmarshal(body, shift); err != nil {
			return err
		}
		if shift.GetStartDateTime() == "" { // It is on no clock, and overlaps nothing.
			return nil
		}
		start, err := civil.ParseDateTime(shift.GetStartDateTime())
		if err != nil {
			return fmt.Errorf("start of a shift of employee %d: %w", employee, err)
		}
		end, err := civil.ParseDateTime(shift.GetEndDateTime())
		if err != nil {
			return fmt.Errorf("end of a shift of employee %d: %w", employee, err)
		}
		w.entries.add(employee, schedulewarning.HandEntry{Start: start, End: end})
		return nil
	})
	return err
}

// detachedDays returns the changed days on which entries were changed or deleted by hand.
func detachedDays(hidden []hiddenentry.Hide, changed []civil.Range) []civil.Range {
	var days []civil.Range
	for i := range hidden {
		day := hidden[i].Day
		if slices.ContainsFunc(changed, func(r civil.Range) bool { return r.Contains(day) }) {
			days = append(days, civil.Range{From: day, To: day + 1})
		}
	}
	return civil.Normalise(days)
}

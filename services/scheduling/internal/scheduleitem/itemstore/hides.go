package itemstore

import (
	"github.com/rotaloom/rotaloom/pkg/civil"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/hiddenentry"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// Hides is the generated entry that a row replaces. slot is its current slot, or nil while the
// pattern does not generate it.
type Hides struct {
	hiddenentry.Entered
	slot *hiddenentry.Slot
}

// NewHides returns the generated entry as a row that replaces it hides it.
func NewHides(g *reading.Generated) *Hides {
	slot := g.Slot
	return &Hides{Entered: g.Origin, slot: &slot}
}

// Message returns the hidden entry for services that keep a copy.
func (h *Hides) Message() *schedulingv1.HiddenShift {
	if h == nil {
		return nil
	}
	return h.slot.Shift(h.EmployeeID, h.Day)
}

// hidesColumns has the columns of Hides.
type hidesColumns struct {
	employee, lineage, pattern *int64
	day                        *civil.Date
	cycleDay                   *int32
	ordinal, lane, slot        *int16
}

func (h *Hides) columns() hidesColumns {
	if h == nil {
		return hidesColumns{}
	}
	day, cycleDay, ordinal := h.Day, h.CycleDay, int16(h.Ordinal)
	c := hidesColumns{
		employee: &h.EmployeeID, lineage: &h.LineageID, pattern: &h.PatternID, day: &day, cycleDay: &cycleDay, ordinal: &ordinal,
	}
	c.lane, c.slot = h.slot.Columns()
	return c
}

func (c hidesColumns) read() *Hides {
	if c.employee == nil || c.day == nil {
		return nil
	}
	h := &Hides{Entered: hiddenentry.Entered{
		EmployeeID: *c.employee, Day: *c.day, LineageID: value(c.lineage), PatternID: value(c.pattern),
		CycleDay: value(c.cycleDay), Ordinal: uint8(value(c.ordinal)),
	}}
	if c.lane != nil && c.slot != nil {
		h.slot = &hiddenentry.Slot{Lane: uint8(*c.lane), Ordinal: uint8(*c.slot)}
	}
	return h
}

func collectColumn[T any](list []hidesColumns, value func(hidesColumns) *T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = value(list[i])
	}
	return out
}

func value[T any](v *T) (out T) {
	if v != nil {
		out = *v
	}
	return out
}

package schedule

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
)

// items adds what people entered for an employee. The statement that read the
// rows chose those that touch the window.
func (e *expansion) items(rows []itemRow, employee int32, locks []lockRow) error {
	for i := range rows {
		row := &rows[i]
		k := kindPayCodeEdit
		if row.shift {
			k = kindShift
		}
		if !e.needed[k] || k == kindShift && e.query.excludeOvernight && row.day < e.days.From {
			continue
		}
		added, err := e.item(row, k)
		if err != nil {
			return err
		}
		added.employee, added.locked = employee, isLocked(locks, row.day)
		e.entries[k] = append(e.entries[k], added)
	}
	return nil
}

func (e *expansion) openShifts(rows []itemRow) error {
	for i := range rows {
		if e.query.excludeOvernight && rows[i].day < e.days.From {
			continue
		}
		added, err := e.item(&rows[i], kindShift)
		if err != nil {
			return err
		}
		added.employee = -1
		e.open = append(e.open, added)
	}
	return nil
}

func (e *expansion) item(row *itemRow, k kind) (entry, error) {
	body := row.body
	if k == kindShift && e.query.excludeBreaks {
		var err error
		if body, err = bodyWithoutBreaks(body); err != nil {
			return entry{}, fmt.Errorf("schedule: item %d: %w", row.id, err)
		}
	}
	t, err := storedTemplate(body, k, row.day)
	if err != nil {
		return entry{}, fmt.Errorf("schedule: item %d: %w", row.id, err)
	}
	return entry{
		template: t, id: row.id, version: row.version, day: row.day, relations: -1,
		start: int64(row.day)*civil.SecondsPerDay + int64(t.start),
	}, nil
}

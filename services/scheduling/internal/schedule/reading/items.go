package reading

import (
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/storedrows"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/window"
)

// addItems adds the entered items of an employee. The statement that read the rows selected items
// that touch the window.
func (e *expansion) addItems(rows []storedrows.Item, employee int32, locks []window.Lock) error {
	for i := range rows {
		row := &rows[i]
		k := row.Kind
		if row.Last < e.Days.From {
			continue // The item was read only for the shifts that it covers.
		}
		if e.skips(k, employee, row.Day) {
			continue
		}
		added, err := e.newEntry(row, k, e.Persons[employee].JobOn(row.Day))
		if err != nil {
			return err
		}
		added.Employee, added.Locked = employee, isLocked(locks, row.Day)
		e.Entries[k] = append(e.Entries[k], added)
	}
	return nil
}

func (e *expansion) addOpenShifts(rows []storedrows.Item) error {
	for i := range rows {
		if e.query.ExcludeOvernight && rows[i].Day < e.Days.From {
			continue
		}
		added, err := e.newEntry(&rows[i], window.KindShift, nil)
		if err != nil {
			return err
		}
		added.Employee = -1
		e.Open = append(e.Open, added)
	}
	return nil
}

// newEntry returns the entry of a stored row. job is the employee's primary job on the day, or nil.
func (e *expansion) newEntry(row *storedrows.Item, k window.Kind, job *window.Job) (window.Entry, error) {
	body := row.Body
	if job != nil {
		var err error
		if body, err = window.BodyWithJob(body, k, job); err != nil {
			return window.Entry{}, fmt.Errorf("schedule: item %d: %w", row.ID, err)
		}
	}
	if k == window.KindShift && e.query.ExcludeBreaks {
		var err error
		if body, err = window.BodyWithoutBreaks(body); err != nil {
			return window.Entry{}, fmt.Errorf("schedule: item %d: %w", row.ID, err)
		}
	}
	t, err := window.StoredTemplate(body, k, row.Day)
	if err != nil {
		return window.Entry{}, fmt.Errorf("schedule: item %d: %w", row.ID, err)
	}
	return window.Entry{
		Template: t, ID: row.ID, Version: row.Version, Day: row.Day, Relations: -1,
		Start: int64(row.Day)*civil.SecondsPerDay + int64(t.Start),
	}, nil
}

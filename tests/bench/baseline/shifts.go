package baseline

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/tests/bench/fixture"
	"github.com/rotaloom/rotaloom/tests/scenario"
)

// storedShift is the baseline's data about a shift.
type storedShift struct {
	scenario.ShiftOf
	Version   int64
	Relations []struct{ From struct{ ID int64 } }
	Segments  []struct {
		Type          string
		StartDateTime string
		EndDateTime   string
	}
}

// kinds are the numbers of the types of segments.
var kinds = map[string]byte{"REGULAR_SEGMENT": 1, "BREAK_SEGMENT": 2}

// readAtOnce is the number of employees whose cycle is read at once.
const readAtOnce = 1_000

// StoreShifts reads one cycle of the rotations of employees from the product, and stores these
// shifts as one row each, for a number of days from the first one.
func StoreShifts(ctx context.Context, t Target, persons []int64, first time.Time, days int) error {
	if err := fixture.Execute(ctx, t.Postgres("postgres"), "CREATE DATABASE baseline"); err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, t.Postgres("baseline"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, shiftTables); err != nil {
		return err
	}
	last := first.AddDate(0, 0, fixture.CycleDays-1)
	for some := range slices.Chunk(persons, readAtOnce) {
		var shown struct{ Shifts []storedShift }
		_, body, err := t.API.Bytes(ctx, "POST", fixture.ReadPath, scenario.ReadRequest(some, first.Format(time.DateOnly), last.Format(time.DateOnly)))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(body, &shown); err != nil {
			return err
		}
		if len(shown.Shifts) != len(some)*fixture.CycleDays {
			return fmt.Errorf("the product shows %d shifts of %d employees on %d days", len(shown.Shifts), len(some), fixture.CycleDays)
		}
		if err := copyShifts(ctx, conn, shown.Shifts); err != nil {
			return err
		}
	}
	if _, err := conn.Exec(ctx, repeatShifts, days, fixture.CycleDays); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "VACUUM (ANALYZE) employee, shift")
	return err
}

// copyShifts stores shown shifts and their employees.
func copyShifts(ctx context.Context, conn *pgx.Conn, shifts []storedShift) error {
	var employees, rows [][]any
	for i := range shifts {
		s := &shifts[i]
		if i == 0 || s.Employee.ID != shifts[i-1].Employee.ID {
			employees = append(employees, []any{s.Employee.ID, s.Employee.Qualifier})
		}
		row, err := s.row()
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if _, err := conn.CopyFrom(ctx, pgx.Identifier{"employee"}, []string{"id", "person_number"}, pgx.CopyFromRows(employees)); err != nil {
		return err
	}
	columns := []string{"employee_id", "day", "id", "start_minute", "end_minute", "label", "version", "assignment_id", "segments"}
	_, err := conn.CopyFrom(ctx, pgx.Identifier{"shown"}, columns, pgx.CopyFromRows(rows))
	return err
}

// row returns the values of a shift's columns.
func (s *storedShift) row() ([]any, error) {
	day, err := time.Parse(time.DateOnly, s.StartDateTime[:len(time.DateOnly)])
	if err != nil {
		return nil, err
	}
	var failed error
	minute := func(text string) int16 {
		at, err := time.Parse("2006-01-02T15:04:05", text)
		if err != nil {
			failed = err
		}
		return int16(at.Sub(day) / time.Minute)
	}
	var segments []byte
	for _, segment := range s.Segments {
		segments = append(segments, kinds[segment.Type])
		segments = binary.BigEndian.AppendUint16(segments, uint16(minute(segment.StartDateTime)))
		segments = binary.BigEndian.AppendUint16(segments, uint16(minute(segment.EndDateTime)))
	}
	start, end := minute(s.StartDateTime), minute(s.EndDateTime)
	return []any{s.Employee.ID, day, s.ID, start, end, s.Label, s.Version, s.Relations[0].From.ID, segments}, failed
}

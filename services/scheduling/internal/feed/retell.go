package feed

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/bus"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/serial"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// How much a page tells. An employee may have years of shifts made by hand.
const (
	patternsAtOnce  = 100
	employeesAtOnce = 128
)

// Topics are what this service can tell anew.
func Topics() []outbox.Topic {
	return []outbox.Topic{{Name: "schedule_patterns", Page: patternPage}, {Name: "schedules", Page: schedulePage}}
}

// Consumer is the consumer of those who want something told anew.
func Consumer(reteller *outbox.Reteller) bus.Consumer {
	return bus.Consumer{
		Durable: "scheduling-wanted", Stream: "COMMONS", Subjects: []string{"rotaloom.commons.projection.wanted"},
		Handle: func(ctx context.Context, m bus.Message) error {
			event, err := bus.Decode[*commonsv1.ProjectionWanted](m)
			if err != nil {
				return err
			}
			return reteller.Ask(ctx, event.GetTopic())
		},
	}
}

const (
	pageOfPatterns = `SELECT id, body FROM schedule_pattern WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`

	// Whoever has, or may have had, a schedule.
	pageOfEmployees = `
SELECT id FROM (
    (SELECT id FROM employee WHERE tenant_id = $1 AND id > $2 ORDER BY 1 LIMIT $3)
    UNION (SELECT DISTINCT employee_id FROM span WHERE tenant_id = $1 AND employee_id > $2 ORDER BY 1 LIMIT $3)
    UNION (SELECT DISTINCT employee_id FROM schedule_item WHERE tenant_id = $1 AND employee_id > $2 ORDER BY 1 LIMIT $3)
    UNION (SELECT employee_id FROM leave_edit_head WHERE tenant_id = $1 AND employee_id > $2 ORDER BY 1 LIMIT $3)
) AS e ORDER BY 1 LIMIT $3`

	// Whoever is not there yet has no leave that anybody was told of. What can not
	// be locked must not be told either: their first leave may be on its way, with
	// a smaller revision.
	lockLeave = `SELECT employee_id FROM leave_edit_head WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id FOR UPDATE`

	hiddenOthers = `
SELECT DISTINCT hides_employee_id FROM schedule_item
WHERE tenant_id = $1 AND employee_id = ANY($2) AND hides_employee_id <> employee_id`

	spansOf = `
SELECT employee_id, lane, from_date - '1970-01-01'::date, to_date - '1970-01-01'::date, pattern_id, position, day_count
FROM span WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id, from_date, lane`

	shiftsOf = `
SELECT id, CASE WHEN deleted OR withdrawn THEN 0 ELSE employee_id END, from_day - '1970-01-01'::date, body,
    hides_employee_id, hides_day - '1970-01-01'::date, hidden_lane, hidden_ordinal
FROM schedule_item WHERE tenant_id = $1 AND employee_id = ANY($2) AND kind = 'SHIFT'`
)

// patternPage tells patterns by ascending id.
func patternPage(ctx context.Context, tx pgx.Tx, tenantID, after int64) (int64, bool, error) {
	rows, err := tx.Query(ctx, pageOfPatterns, tenantID, after, patternsAtOnce)
	if err != nil {
		return 0, false, err
	}
	var events []proto.Message
	var id int64
	var body []byte
	n := 0
	if _, err := pgx.ForEachRow(rows, []any{&id, &body}, func() error {
		n++
		pattern := &schedulingv1.SchedulePattern{}
		if err := proto.Unmarshal(body, pattern); err != nil {
			return err
		}
		told, err := Pattern(id, pattern)
		events = append(events, told...)
		return err
	}); err != nil {
		return 0, false, fmt.Errorf("feed: read patterns: %w", err)
	}
	return id, n == patternsAtOnce, outbox.Append(ctx, tx, tenantID, events...)
}

// schedulePage tells everything of some employees, by ascending id.
func schedulePage(ctx context.Context, tx pgx.Tx, tenantID, after int64) (int64, bool, error) {
	ids, err := readIDs(ctx, tx, pageOfEmployees, tenantID, after, employeesAtOnce)
	if err != nil || len(ids) == 0 {
		return 0, false, err
	}
	// Shifts that were moved to one of them say what they hide of others.
	others, err := readIDs(ctx, tx, hiddenOthers, tenantID, ids)
	if err != nil {
		return 0, false, err
	}
	if err := serial.Lock(ctx, tx, tenantID, append(others, ids...)); err != nil {
		return 0, false, err
	}
	onLeave, err := readIDs(ctx, tx, lockLeave, tenantID, ids)
	if err != nil {
		return 0, false, err
	}
	revision, err := nextRevision(ctx, tx)
	if err != nil {
		return 0, false, err
	}
	spans, err := readSpans(ctx, tx, tenantID, ids)
	if err != nil {
		return 0, false, err
	}
	shifts, err := readShifts(ctx, tx, tenantID, ids)
	if err != nil {
		return 0, false, err
	}
	if err := outbox.Append(ctx, tx, tenantID, append(spans.Events(revision), shifts.Events(revision)...)...); err != nil {
		return 0, false, err
	}
	return ids[len(ids)-1], len(ids) == employeesAtOnce, PublishLeave(ctx, tx, tenantID, onLeave)
}

func readIDs(ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]int64, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("feed: read employees: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("feed: read employees: %w", err)
	}
	return ids, nil
}

func readSpans(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64) (*Spans, error) {
	rows, err := tx.Query(ctx, spansOf, tenantID, ids)
	if err != nil {
		return nil, fmt.Errorf("feed: read spans: %w", err)
	}
	found := map[int64][]span.Span{}
	var id int64
	var lane int16
	var s span.Span
	if _, err := pgx.ForEachRow(rows, []any{&id, &lane, (*int32)(&s.From), (*int32)(&s.To), &s.PatternID, &s.Position, &s.DayCount}, func() error {
		s.Lane = uint8(lane)
		found[id] = append(found[id], s)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("feed: read spans: %w", err)
	}
	told := &Spans{}
	for _, id := range ids {
		told.Add(id, found[id])
	}
	return told, nil
}

func readShifts(ctx context.Context, tx pgx.Tx, tenantID int64, ids []int64) (*Shifts, error) {
	rows, err := tx.Query(ctx, shiftsOf, tenantID, ids)
	if err != nil {
		return nil, fmt.Errorf("feed: read shifts: %w", err)
	}
	told := &Shifts{}
	var id, employee int64
	var day civil.Date
	var body []byte
	var hidesEmployee *int64
	var hidesDay *int32
	var lane, ordinal *int16
	if _, err := pgx.ForEachRow(rows, []any{&id, &employee, (*int32)(&day), &body, &hidesEmployee, &hidesDay, &lane, &ordinal}, func() error {
		if hidesEmployee == nil || hidesDay == nil || lane == nil || ordinal == nil {
			return told.Add(id, employee, day, body, nil)
		}
		return told.Add(id, employee, day, body, &schedulingv1.HiddenShift{
			EmployeeId: *hidesEmployee, Day: *hidesDay, Lane: int32(*lane), Ordinal: int32(*ordinal),
		})
	}); err != nil {
		return nil, fmt.Errorf("feed: read shifts: %w", err)
	}
	told.complete(ids)
	return told, nil
}

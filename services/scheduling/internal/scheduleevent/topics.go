package scheduleevent

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/employeelock"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/span"
)

// Topics returns the topics that scheduling owns and commons copies. The fingerprints of spans and shifts
// are digests of the published data; commons uses the same expressions.
func Topics() []replica.Topic {
	return []replica.Topic{
		{Event: &schedulingv1.PatternStored{}, Tenants: replica.Tenants, Fingerprints: patternFingerprints, States: patternStates},
		{Event: &schedulingv1.SpansChanged{}, Tenants: replica.Tenants, Fingerprints: spanFingerprints, States: spanStates},
		{Event: &schedulingv1.ShiftsEntered{}, Tenants: replica.Tenants, Fingerprints: shiftFingerprints, States: shiftStates},
		{Event: &schedulingv1.LeaveTaken{}, Tenants: replica.Tenants, Fingerprints: leaveFingerprints, States: leaveStates},
	}
}

const (
	// Like Digest.
	patternFingerprints = `
SELECT id AS key, ('x' || encode(substr(digest, 1, 8), 'hex'))::bit(64)::bigint AS mark
FROM schedule_pattern WHERE tenant_id = $1 AND id > $2 AND id <= $3`

	readPatterns = `SELECT id, digest, body FROM schedule_pattern WHERE tenant_id = $1 AND id = ANY($2) ORDER BY id`

	spanFingerprints = `
SELECT employee_id AS key, bit_xor(hashint8extended(pattern_id, hashint8extended((from_date - ` + civil.EpochSQL + `)::bigint << 32 | (to_date - ` + civil.EpochSQL + `)::bigint,
    hashint8extended(position::bigint << 32 | day_count::bigint, lane::bigint)))) AS mark
FROM span WHERE tenant_id = $1 AND employee_id > $2 AND employee_id <= $3 GROUP BY employee_id`

	readSpans = `
SELECT employee_id, lane, from_date, to_date, pattern_id, position, day_count
FROM span WHERE tenant_id = $1 AND employee_id = ANY($2) ORDER BY employee_id, from_date, lane`

	// Only published rows: no open shifts, no other entries, and no deleted shifts that hide
	// nothing.
	shiftFingerprints = `
SELECT id AS key, hashint8extended(CASE WHEN deleted OR withdrawn THEN -version ELSE version END, CASE WHEN hidden_lane IS NULL THEN 0 ELSE
    hashint8extended(hides_employee_id, (hides_day - ` + civil.EpochSQL + `)::bigint << 16 | hidden_lane::bigint << 8 | hidden_ordinal::bigint) END) AS mark
FROM schedule_item WHERE tenant_id = $1 AND id > $2 AND id <= $3
  AND employee_id IS NOT NULL AND kind = 'SHIFT' AND (NOT deleted AND NOT withdrawn OR hidden_lane IS NOT NULL)`

	// The employees whose locks keep the shifts unchanged.
	employeesOfShifts = `
SELECT employee_id FROM schedule_item WHERE tenant_id = $1 AND id = ANY($2) AND employee_id IS NOT NULL
UNION SELECT hides_employee_id FROM schedule_item WHERE tenant_id = $1 AND id = ANY($2) AND hides_employee_id IS NOT NULL`

	readShifts = `
SELECT id, version, CASE WHEN deleted OR withdrawn THEN 0 ELSE employee_id END, from_day, body, hides_employee_id, hides_day, hidden_lane, hidden_ordinal
FROM schedule_item WHERE tenant_id = $1 AND id = ANY($2) AND employee_id IS NOT NULL AND kind = 'SHIFT'`

	// Like leaveVersions.
	leaveFingerprints = `
SELECT key, sum(version)::bigint AS mark FROM (
    SELECT employee_id AS key, version FROM leave_head WHERE tenant_id = $1 AND employee_id > $2 AND employee_id <= $3
    UNION ALL SELECT employee_id, version FROM time_off_head WHERE tenant_id = $1 AND employee_id > $2 AND employee_id <= $3
) AS heads GROUP BY key`
)

// Digest returns the part of a pattern's digest that owner and copies compare.
func Digest(digest []byte) int64 { return int64(binary.BigEndian.Uint64(digest)) }

func patternStates(ctx context.Context, tx pgx.Tx, gaps []replica.Gap) ([]proto.Message, error) {
	type stored struct{ digest, body []byte }
	found := map[int64]stored{}
	var id int64
	var s stored
	if err := pg.ForEach(ctx, tx, []any{&id, &s.digest, &s.body}, func() error {
		found[id] = s
		s = stored{}
		return nil
	}, readPatterns, tenant.Of(ctx), replica.Keys(gaps)); err != nil {
		return nil, fmt.Errorf("scheduleevent: read patterns: %w", err)
	}
	var events []proto.Message
	for _, w := range gaps {
		s, exists := found[w.Key]
		if !exists {
			events = append(events, &schedulingv1.PatternStored{PatternId: w.Key, Part: w.Version + 1, First: true, Deleted: true})
			continue
		}
		pattern := &schedulingv1.SchedulePattern{}
		if err := proto.Unmarshal(s.body, pattern); err != nil {
			return nil, fmt.Errorf("scheduleevent: read pattern %d: %w", w.Key, err)
		}
		published, err := Pattern(w.Key, Digest(s.digest), w.Version, pattern)
		if err != nil {
			return nil, err
		}
		events = append(events, published...)
	}
	return events, nil
}

func spanStates(ctx context.Context, tx pgx.Tx, gaps []replica.Gap) ([]proto.Message, error) {
	ids := replica.Keys(gaps)
	if err := employeelock.Lock(ctx, tx, ids); err != nil {
		return nil, err
	}
	revision, err := revisionAbove(ctx, tx, replica.Largest(gaps))
	if err != nil {
		return nil, err
	}
	found := map[int64][]span.Span{}
	var id int64
	var lane int16
	var s span.Span
	if err := pg.ForEach(ctx, tx, []any{&id, &lane, &s.From, &s.To, &s.PatternID, &s.Position, &s.DayCount}, func() error {
		s.Lane = uint8(lane)
		found[id] = append(found[id], s)
		return nil
	}, readSpans, tenant.Of(ctx), ids); err != nil {
		return nil, fmt.Errorf("scheduleevent: read spans: %w", err)
	}
	published := &Spans{}
	for _, id := range ids {
		published.Add(id, found[id])
	}
	return published.Events(revision), nil
}

func shiftStates(ctx context.Context, tx pgx.Tx, gaps []replica.Gap) ([]proto.Message, error) {
	tenantID := tenant.Of(ctx)
	ids := replica.Keys(gaps)
	employees, err := readIDs(ctx, tx, employeesOfShifts, tenantID, ids)
	if err != nil {
		return nil, err
	}
	if err := employeelock.Lock(ctx, tx, employees); err != nil {
		return nil, err
	}
	revision, err := revisionAbove(ctx, tx, replica.Largest(gaps))
	if err != nil {
		return nil, err
	}
	published, existing := &Shifts{}, map[int64]bool{}
	var s Shift
	var hidesEmployee *int64
	var hidesDay *civil.Date
	var lane, ordinal *int16
	if err := pg.ForEach(ctx, tx, []any{&s.ID, &s.Version, &s.EmployeeID, &s.Day, &s.Body, &hidesEmployee, &hidesDay, &lane, &ordinal}, func() error {
		existing[s.ID], s.Hides = true, nil
		if hidesEmployee != nil && hidesDay != nil && lane != nil && ordinal != nil {
			s.Hides = &schedulingv1.HiddenShift{EmployeeId: *hidesEmployee, Day: int32(*hidesDay), Lane: int32(*lane), Ordinal: int32(*ordinal)}
		}
		return published.Add(s)
	}, readShifts, tenantID, ids); err != nil {
		return nil, fmt.Errorf("scheduleevent: read shifts: %w", err)
	}
	for _, id := range ids {
		if !existing[id] {
			if err := published.Add(Shift{ID: id}); err != nil {
				return nil, err
			}
		}
	}
	return published.Events(revision), nil
}

// leaveStates returns the leave of employees under the locks of their schedules. Employees without
// leave are locked, too, because their first leave may be in progress with a smaller revision.
func leaveStates(ctx context.Context, tx pgx.Tx, gaps []replica.Gap) ([]proto.Message, error) {
	ids := replica.Keys(gaps)
	if err := employeelock.Lock(ctx, tx, ids); err != nil {
		return nil, err
	}
	revision, err := revisionAbove(ctx, tx, replica.Largest(gaps))
	if err != nil {
		return nil, err
	}
	return leaveEvents(ctx, tx, ids, revision)
}

func readIDs(ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]int64, error) {
	ids, err := pg.Collect(ctx, tx, pgx.RowTo[int64], sql, args...)
	if err != nil {
		return nil, fmt.Errorf("scheduleevent: read employees: %w", err)
	}
	return ids, nil
}

// errRevisionsBehind reports that the revisions could not be advanced, because other transactions
// drew from them at the same time.
var errRevisionsBehind = errors.New("scheduleevent: the revisions are behind those of a copy")

// revisionMargin is the distance in microseconds that the revisions are advanced past the revision
// of a copy.
const revisionMargin = 1_000_000

//
//nolint:gosec // To pass is to go beyond; there is no password in it.
const passRevision = `
SELECT CASE WHEN last_value <= $1 THEN setval('schedule_revision', $1 + $2) ELSE last_value END FROM schedule_revision`

// revisionAbove draws the first revision of a transaction, which is larger than the revision of a
// copy. A copy can be ahead of this database after the database was restored from a backup while
// the clock is behind. Revisions then continue from the copy's revision.
func revisionAbove(ctx context.Context, tx pgx.Tx, above int64) (int64, error) {
	var revision int64
	if err := tx.QueryRow(ctx, passRevision, above, revisionMargin).Scan(&revision); err != nil {
		return 0, fmt.Errorf("scheduleevent: move the revisions on: %w", err)
	}
	revision, err := nextRevision(ctx, tx)
	if err == nil && revision <= above {
		err = errRevisionsBehind
	}
	return revision, err
}

package projection

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"
)

const (
	// A digest of the published spans of a person; scheduling uses the same expression.
	spanFingerprints = `
SELECT person_id AS key, bit_xor(hashint8extended(pattern_id, hashint8extended((from_date - ` + civil.EpochSQL + `)::bigint << 32 | (to_date - ` + civil.EpochSQL + `)::bigint,
    hashint8extended(position::bigint << 32 | day_count::bigint, lane::bigint)))) AS mark
FROM schedule_span WHERE tenant_id = $1 AND person_id > $2 AND person_id <= $3 GROUP BY person_id`

	// Spans that begin on the same day keep their row. The range of persons limits the search
	// under any plan. Dates are compared as sums: see decision 76.
	updateSpans = `
UPDATE schedule_span s SET to_date = u.to_day, pattern_id = u.pattern_id, position = u.position, day_count = u.day_count
FROM unnest($2::bigint[], $3::smallint[], $4::date[], $5::date[], $6::bigint[], $7::int[], $8::int[])
    AS u (person_id, lane, from_day, to_day, pattern_id, position, day_count)
WHERE s.tenant_id = $1 AND s.person_id = u.person_id AND s.from_date = u.from_day + 0 AND s.lane = u.lane
    AND s.person_id BETWEEN $9 AND $10`

	// The planner hashes a list after NOT IN, whatever length it expects. For the range see
	// condition.AnyOf.
	deleteSpans = `
DELETE FROM schedule_span WHERE tenant_id = $1 AND person_id = ANY($5) AND person_id BETWEEN $6 AND $7
AND (person_id, lane, from_date) NOT IN (
    SELECT u.person_id, u.lane, u.from_day FROM unnest($2::bigint[], $3::smallint[], $4::date[]) AS u (person_id, lane, from_day))`

	// Before the table has statistics, a search for existing rows would read the whole tenant,
	// or compare all rows with all others. A conflict is found by the primary key.
	insertSpans = `
INSERT INTO schedule_span (tenant_id, person_id, lane, from_date, to_date, pattern_id, position, day_count)
SELECT $1, u.person_id, u.lane, u.from_day, u.to_day, u.pattern_id, u.position, u.day_count
FROM unnest($2::bigint[], $3::smallint[], $4::date[], $5::date[], $6::bigint[], $7::int[], $8::int[])
    AS u (person_id, lane, from_day, to_day, pattern_id, position, day_count)
ON CONFLICT (tenant_id, person_id, from_date, lane) DO NOTHING`
)

// applySpans replaces the spans of persons.
func applySpans(ctx context.Context, tx pgx.Tx, changes []replica.Change[*schedulingv1.EqualSpans]) error {
	tenantID := tenant.Of(ctx)
	ids := make([]int64, len(changes))
	type row struct {
		Person             int64
		Lane               int16
		From, To           civil.Date
		Pattern            int64
		Position, DayCount int32
	}
	type key struct {
		Person int64
		Lane   int16
		From   civil.Date
	}
	var rows []row
	var keys []key
	for i, c := range changes {
		ids[i] = c.Key
		for _, s := range c.State.GetSpans() {
			r := row{
				c.Key, int16(s.GetLane()), civil.Date(s.GetFrom()), civil.Date(s.GetTo()), s.GetPatternId(), s.GetPosition(), s.GetDayCount(),
			}
			rows, keys = append(rows, r), append(keys, key{r.Person, r.Lane, r.From})
		}
	}
	batch := &pgx.Batch{}
	batch.Queue(deleteSpans, append(pg.Columns(keys, tenantID), ids, slices.Min(ids), slices.Max(ids))...)
	if len(rows) > 0 {
		columns := pg.Columns(rows, tenantID)
		batch.Queue(updateSpans, append(slices.Clone(columns), slices.Min(ids), slices.Max(ids))...)
		batch.Queue(insertSpans, columns...)
	}
	if err := tx.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("projection: store spans: %w", err)
	}
	return nil
}

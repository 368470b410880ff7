package signoff

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/outbox"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
	"github.com/rotaloom/rotaloom/services/timekeeping/internal/timecard/calculation"
)

// One request compares at most these employees on these days.
const (
	maxCompared     = 20
	maxComparedDays = 100
)

const requests pg.Unaudited = "the request that changed the schedule has its row"

// readCompared reads the last signed-off day of employees, and the first day that is stored.
const readCompared = `
SELECT h.employee_id, h.through, (SELECT min(day) FROM signed_day d WHERE d.tenant_id = $1 AND d.employee_id = h.employee_id)
FROM (
    SELECT employee_id, max(through) AS through FROM timecard_signoff
    WHERE tenant_id = $1 AND employee_id = ANY($2) AND through >= $3 GROUP BY employee_id
) AS h ORDER BY h.employee_id`

// compared are days of an employee whose schedule may have changed.
type compared struct {
	id int64
	civil.Range
}

// RequestComparisons requests comparisons of the signed-off days of employees whose schedule changed.
// It divides them, so that each request has few employees and days.
func (s *Store) RequestComparisons(ctx context.Context, ids []int64, days civil.Range) error {
	days.From = max(days.From, calculation.First)
	rows, err := s.pool.Query(ctx, readCompared, tenant.Of(ctx), ids, days.From)
	if err != nil {
		return fmt.Errorf("read sign-offs: %w", err)
	}
	var signed, early []compared
	var id int64
	var through civil.Date
	var first *civil.Date
	if _, err := pgx.ForEachRow(rows, []any{&id, &through, &first}, func() error {
		next := min(days.To, through+1)
		stored := next
		if first != nil {
			stored = min(max(*first, days.From), next)
		}
		if days.From < stored {
			early = append(early, compared{id, civil.Range{From: days.From, To: stored}})
		}
		if stored < next {
			signed = append(signed, compared{id, civil.Range{From: stored, To: next}})
		}
		return nil
	}); err != nil {
		return fmt.Errorf("read sign-offs: %w", err)
	}
	events := comparisons(signed)
	for _, one := range early {
		events = append(events, comparison([]int64{one.id}, one.Range))
	}
	if len(events) == 0 {
		return nil
	}
	return requests.InTx(ctx, s.pool, func(ctx context.Context, tx pgx.Tx) error {
		return outbox.Append(ctx, tx, events...)
	})
}

// comparisons divides days of employees into requests. Employees with similar days share requests.
func comparisons(all []compared) []proto.Message {
	slices.SortFunc(all, func(a, b compared) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.id, b.id))
	})
	var out []proto.Message
	for group := range slices.Chunk(all, maxCompared) {
		days, ids := group[0].Range, make([]int64, len(group))
		for i, one := range group {
			ids[i], days.To = one.id, max(days.To, one.To)
		}
		for from := days.From; from < days.To; from += maxComparedDays {
			out = append(out, comparison(ids, civil.Range{From: from, To: min(from+maxComparedDays, days.To)}))
		}
	}
	return out
}

func comparison(ids []int64, days civil.Range) proto.Message {
	return &timekeepingv1.ScheduleComparisonRequested{EmployeeIds: ids, From: days.From.String(), To: (days.To - 1).String()}
}

// CompareAll is Compare for any number of days. Days before the first stored day of a first sign-off
// may be many: only those with a pay code edit pay anything, so the others are left out.
func (s *Store) CompareAll(ctx context.Context, ids []int64, days civil.Range) error {
	if days.Days() <= maxComparedDays {
		return s.Compare(ctx, ids, days)
	}
	for _, id := range ids {
		for left := days; ; {
			first, err := s.timecards.FirstEdited(ctx, id, left)
			if err != nil {
				return err
			}
			if first == left.To {
				break
			}
			part := civil.Range{From: first, To: min(first+maxComparedDays, left.To)}
			if err := s.Compare(ctx, []int64{id}, part); err != nil {
				return err
			}
			left.From = part.To
		}
	}
	return nil
}

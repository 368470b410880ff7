package employeeday

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// longestHoliday is the largest number of days that a holiday can begin before a day that it
// touches.
const longestHoliday = 32

const readHolidays = `
SELECT DISTINCT d.day::date FROM holiday_date AS h
CROSS JOIN LATERAL generate_series(greatest(h.from_date, $2::date), least(h.to_date, $3::date) - 1, interval '1 day') AS d (day)
WHERE h.tenant_id = $1 AND h.from_date < $3 AND h.from_date > $2::date - $4::int AND h.to_date > $2 ORDER BY 1`

// readHolidays returns the days that selected holidays touch.
func (h *Handler) readHolidays(ctx context.Context, days civil.Range) ([]int32, error) {
	rows, err := h.pool.Query(ctx, readHolidays, tenant.Of(ctx), days.From, days.To, longestHoliday)
	if err != nil {
		return nil, fmt.Errorf("read holidays: %w", err)
	}
	out, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (int32, error) {
		var day civil.Date
		err := row.Scan(&day)
		return int32(day), err
	})
	if err != nil {
		return nil, fmt.Errorf("read holidays: %w", err)
	}
	return out, nil
}

// holidaysOfFreeEdits returns the holidays if a pay code edit of the employees is free on holidays.
func (h *Handler) holidaysOfFreeEdits(ctx context.Context, found map[int64]*reading.Days, days civil.Range) ([]int32, error) {
	for _, d := range found {
		if slices.ContainsFunc(d.Edits, func(e reading.DayEdit) bool { return e.Edit.GetFreeOnHolidays() }) {
			return h.readHolidays(ctx, days)
		}
	}
	return nil, nil
}

// contains reports whether a day is one of some, which ascend.
func contains(days []int32, day civil.Date) bool {
	_, found := slices.BinarySearch(days, int32(day))
	return found
}

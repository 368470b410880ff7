// Package dataprovider serves the data elements of schedules and of employment terms to information
// access: the providers SCH and TK. The values of SCH are computed from spans and items on request,
// by the reader of schedules.
package dataprovider

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/pg"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// maxEmployeeDays is the limit of SCH, which equals the limit of reading schedules.
var maxEmployeeDays = int64(reading.EmployeeDays.Max())

// plan is the loaded data of an employee.
type plan struct {
	entries []reading.Summary
	locked  []civil.Range
}

// NewServer returns the service of the providers for employees and for locations. Timekeeping
// serves the elements of SCH that need the definitions of pay codes.
func NewServer(pool *pg.Pool, reader *reading.Reader, source Locations) *dataelement.Server {
	return dataelement.NewServer(newTable(reader), newLocationTable(reader, source), newTermTable(pool))
}

func newTable(reader *reading.Reader) *dataelement.Table[plan] {
	return &dataelement.Table[plan]{
		Name: "SCH", Permission: "scheduling.schedule.read", Kind: datav1.RowKind_ROW_KIND_EMPLOYEE,
		MaxRowDays: maxEmployeeDays, Entries: elements(),
		Load: func(ctx context.Context, ids []int64, days civil.Range, _ uint64) ([]*plan, error) {
			entries, locked, err := reader.ReadSummaries(ctx, ids, days)
			if err != nil {
				return nil, err
			}
			out := make([]*plan, len(ids))
			for i, id := range ids {
				out[i] = &plan{entries: entries[id], locked: locked[id]}
			}
			return out, nil
		},
	}
}

// selectEntries returns the entries of a kind that belong to the days.
func (p *plan) selectEntries(kind reading.SummaryKind, days civil.Range) func(yield func(*reading.Summary) bool) {
	return func(yield func(*reading.Summary) bool) {
		for i := range p.entries {
			if e := &p.entries[i]; e.Kind == kind && days.Contains(e.Day) && !yield(e) {
				return
			}
		}
	}
}

// shifts returns the shifts of the days.
func (p *plan) shifts(days civil.Range) func(yield func(*reading.Summary) bool) {
	return p.selectEntries(reading.ShiftSummary, days)
}

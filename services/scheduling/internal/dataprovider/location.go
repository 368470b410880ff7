package dataprovider

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/policy"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// Locations finds the employees whose primary job is at a location. Commons implements it.
type Locations interface {
	ListLocationEmployees(ctx context.Context, req *datav1.ListLocationEmployeesRequest, opts ...grpc.CallOption) (*datav1.ListLocationEmployeesResponse, error)
}

// maxLocationDays is the general limit of information access. The effective limit for locations is
// their number of employees times the days.
var maxLocationDays = int64(policy.Max[*platformv1.DataFrom]("locations") * (policy.Max[*platformv1.DataFrom]("days") + 1))

// employeeElements are the elements that are not defined for several employees.
var employeeElements = []string{"SCH_LOCKED_DAYS"}

// newLocationTable returns the provider of locations. The schedule of a location in a period is the
// schedule of all employees whose primary job is there or below on the last day of the period.
func newLocationTable(reader *reading.Reader, source Locations) *dataelement.Table[plan] {
	table := newTable(reader)
	table.Kind, table.MaxRowDays = datav1.RowKind_ROW_KIND_LOCATION, maxLocationDays
	table.Entries = slices.DeleteFunc(table.Entries, func(e entry) bool { return slices.Contains(employeeElements, e.Key) })
	table.Load = nil
	table.LoadPeriods = func(ctx context.Context, ids []int64, periods []civil.Range, _ uint64) ([]*plan, error) {
		return loadLocations(ctx, reader, source, ids, periods)
	}
	return table
}

// concurrentDays is the number of periods whose employees are requested at the same time.
const concurrentDays = 4

// loadLocations reads the schedules of locations on adjacent periods.
func loadLocations(ctx context.Context, reader *reading.Reader, source Locations, ids []int64, periods []civil.Range) ([]*plan, error) {
	members, err := listMembers(ctx, source, ids, periods)
	if err != nil {
		return nil, err
	}
	known := map[int64]bool{}
	for _, m := range members {
		for _, l := range m.GetLocations() {
			for _, id := range l.GetEmployeeIds() {
				known[id] = true
			}
		}
	}
	employees, days := slices.Sorted(maps.Keys(known)), civil.Range{From: periods[0].From, To: periods[len(periods)-1].To}
	if read := int64(len(employees)) * int64(days.Days()); read > maxEmployeeDays {
		return nil, dataelement.OverLimit("SCH", "employees * days", read, maxEmployeeDays)
	}
	entries, _, err := reader.ReadSummaries(ctx, employees, days)
	if err != nil {
		return nil, err
	}
	out := make([]*plan, len(ids))
	for i := range ids {
		out[i] = &plan{}
		for at, m := range members {
			for _, id := range m.GetLocations()[i].GetEmployeeIds() {
				for _, e := range entries[id] {
					if periods[at].Contains(e.Day) {
						out[i].entries = append(out[i].entries, e)
					}
				}
			}
		}
		slices.SortStableFunc(out[i].entries, func(a, b reading.Summary) int { return cmp.Compare(a.Start, b.Start) })
	}
	return out, nil
}

// listMembers returns the employees of locations on the last day of each period. It refuses more employees
// and days than a request may read.
func listMembers(ctx context.Context, source Locations, ids []int64, periods []civil.Range) ([]*datav1.ListLocationEmployeesResponse, error) {
	out := make([]*datav1.ListLocationEmployeesResponse, len(periods))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrentDays)
	for i, p := range periods {
		group.Go(func() error {
			members, err := source.ListLocationEmployees(ctx, &datav1.ListLocationEmployeesRequest{
				LocationIds: ids, Day: (p.To - 1).String(), Most: maxEmployeeDays / int64(p.Days()),
			})
			out[i] = members
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var total int64
	for i, p := range periods {
		total += out[i].GetTotal() * int64(p.Days())
	}
	if total > maxEmployeeDays {
		return nil, dataelement.OverLimit("SCH", "employees * days", total, maxEmployeeDays)
	}
	return out, nil
}

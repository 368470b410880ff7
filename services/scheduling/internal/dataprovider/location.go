package dataprovider

import (
	"cmp"
	"context"
	"slices"

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

// newLocationTable returns the provider of locations. The schedule of a location is the schedule of
// all employees whose primary job is there or below on the last day.
func newLocationTable(reader *reading.Reader, source Locations) *dataelement.Table[plan] {
	table := newTable(reader)
	table.Kind, table.MaxRowDays = datav1.RowKind_ROW_KIND_LOCATION, maxLocationDays
	table.Entries = slices.DeleteFunc(table.Entries, func(e entry) bool { return slices.Contains(employeeElements, e.Key) })
	table.Load = func(ctx context.Context, ids []int64, days civil.Range, _ uint64) ([]*plan, error) {
		return loadLocations(ctx, reader, source, ids, days)
	}
	return table
}

func loadLocations(ctx context.Context, reader *reading.Reader, source Locations, ids []int64, days civil.Range) ([]*plan, error) {
	length := int64(days.Days())
	members, err := source.ListLocationEmployees(ctx, &datav1.ListLocationEmployeesRequest{
		LocationIds: ids, Day: (days.To - 1).String(), Most: maxEmployeeDays / length,
	})
	if err != nil {
		return nil, err
	}
	if members.GetTotal()*length > maxEmployeeDays {
		return nil, dataelement.OverLimit("SCH", "employees * days", members.GetTotal()*length, maxEmployeeDays)
	}
	var employees []int64
	for _, l := range members.GetLocations() {
		employees = append(employees, l.GetEmployeeIds()...)
	}
	entries, _, err := reader.ReadSummaries(ctx, employees, days)
	if err != nil {
		return nil, err
	}
	out := make([]*plan, len(ids))
	for i, l := range members.GetLocations() {
		out[i] = &plan{}
		for _, id := range l.GetEmployeeIds() {
			out[i].entries = append(out[i].entries, entries[id]...)
		}
		slices.SortStableFunc(out[i].entries, func(a, b reading.Summary) int { return cmp.Compare(a.Start, b.Start) })
	}
	return out, nil
}

package dataprovider

import (
	"cmp"
	"context"
	"slices"

	"google.golang.org/grpc"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/dataelement"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	datav1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/data/v1"
	platformv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/platform/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/reading"
)

// Locations knows who has the primary job where. commons serves it.
type Locations interface {
	ListLocationEmployees(ctx context.Context, req *datav1.ListLocationEmployeesRequest, opts ...grpc.CallOption) (*datav1.ListLocationEmployeesResponse, error)
}

// maxLocationDays is what information access allows at all. What counts for
// locations is how many employees they have, times the days.
var maxLocationDays = int64(policy.Max[*platformv1.DataFrom]("locations") * (policy.Max[*platformv1.DataFrom]("days") + 1))

// ofEmployeesOnly are the elements that say nothing of several employees.
var ofEmployeesOnly = []string{"SCH_LOCKED_DAYS"}

// newLocationTable is the provider of locations: the schedule of a location is
// that of everybody who has the primary job there or below on the last day.
func newLocationTable(reader *reading.Reader, source Locations) *dataelement.Table[plan] {
	of := newTable(reader)
	of.Kind, of.MaxRowDays = datav1.RowKind_ROW_KIND_LOCATION, maxLocationDays
	of.Entries = slices.DeleteFunc(of.Entries, func(e entry) bool { return slices.Contains(ofEmployeesOnly, e.Key) })
	of.Load = func(ctx context.Context, ids []int64, days civil.Range, _ uint64) ([]*plan, error) {
		return loadLocations(ctx, reader, source, ids, days)
	}
	return of
}

func loadLocations(ctx context.Context, reader *reading.Reader, source Locations, ids []int64, days civil.Range) ([]*plan, error) {
	tenantID := tenant.Of(ctx)
	length := int64(days.Days())
	known, err := source.ListLocationEmployees(ctx, &datav1.ListLocationEmployeesRequest{
		LocationIds: ids, Day: (days.To - 1).String(), Most: maxEmployeeDays / length,
	})
	if err != nil {
		return nil, err
	}
	if known.GetTotal()*length > maxEmployeeDays {
		return nil, dataelement.OverLimit("SCH", "employees * days", known.GetTotal()*length, maxEmployeeDays)
	}
	var employees []int64
	for _, l := range known.GetLocations() {
		employees = append(employees, l.GetEmployeeIds()...)
	}
	entries, _, err := reader.ReadSummaries(ctx, tenantID, employees, days)
	if err != nil {
		return nil, err
	}
	out := make([]*plan, len(ids))
	for i, l := range known.GetLocations() {
		out[i] = &plan{}
		for _, id := range l.GetEmployeeIds() {
			out[i].entries = append(out[i].entries, entries[id]...)
		}
		slices.SortStableFunc(out[i].entries, func(a, b reading.Summary) int { return cmp.Compare(a.Start, b.Start) })
	}
	return out, nil
}

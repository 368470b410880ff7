package schedule

import (
	"context"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/employeesearch"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

// codeNoPeriod (400): there is no such symbolic period.
const codeNoPeriod = "WFS-104501"

// Commons resolves hyperfind queries, symbolic periods and locations.
type Commons interface {
	ExecuteHyperfind(ctx context.Context, req *commonsv1.ExecuteHyperfindRequest, opts ...grpc.CallOption) (*commonsv1.HyperfindResponse, error)
	ReadSymbolicPeriod(ctx context.Context, req *commonsv1.ReadSymbolicPeriodRequest, opts ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error)
	ResolveLocations(ctx context.Context, req *commonsv1.ResolveLocationsRequest, opts ...grpc.CallOption) (*commonsv1.ResolveLocationsResponse, error)
}

// commons implements Commons over a connection.
type commons struct {
	commonsv1.HyperfindServiceClient
	commonsv1.SymbolicPeriodServiceClient
	commonsv1.LocationServiceClient
}

// NewCommons returns the Commons of a connection. The connection passes on the identity of the
// caller, so that only visible employees are found.
func NewCommons(conn grpc.ClientConnInterface) Commons {
	return commons{commonsv1.NewHyperfindServiceClient(conn), commonsv1.NewSymbolicPeriodServiceClient(conn), commonsv1.NewLocationServiceClient(conn)}
}

// resolve looks up the days of a symbolic period, and the employees of a hyperfind query or of
// locations.
func (h *Handler) resolve(ctx context.Context, q *request.Query) error {
	if q.Period != nil {
		days, err := ReadPeriod(ctx, h.commons, q.Period)
		if err != nil {
			return err
		}
		q.Days = days
	}
	if q.Hyperfind == nil && len(q.Locations) == 0 {
		return nil
	}
	found, err := employeesearch.Find(ctx, h.commons, q.Hyperfind, q.Locations, q.Days)
	if err != nil {
		return err
	}
	q.Employees, q.Nobody = found, len(found.GetIds()) == 0
	return nil
}

// ReadPeriod returns the days of a symbolic period, relative to today in the tenant's time zone.
func ReadPeriod(ctx context.Context, commons Commons, period *commonv1.Ref) (civil.Range, error) {
	name := period.GetQualifier()
	if period.Id != nil {
		name = strconv.FormatInt(period.GetId(), 10)
	}
	span, err := commons.ReadSymbolicPeriod(ctx, &commonsv1.ReadSymbolicPeriodRequest{
		Where: &commonsv1.SymbolicPeriodWhere{CurrentTenant: proto.Bool(true), SymbolicPeriodId: &name},
	})
	if err != nil {
		return civil.Range{}, employeesearch.Unknown(err, codeNoPeriod, "Symbolic period not found: "+employeesearch.Describe(period)+".")
	}
	first, err := civil.ParseDate(span.GetStartDate())
	if err != nil {
		return civil.Range{}, err
	}
	last, err := civil.ParseDate(span.GetEndDate())
	return civil.Through(first, last), err
}

package schedule

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/scheduling/internal/schedule/request"
)

// maxFound is the most employees that commons finds at once: enough to say how
// many too many they are.
var maxFound = int64(policy.Max[*commonsv1.ExecuteHyperfindRequest]("employees in the response"))

// Codes of the specified API for what commons does not know.
const (
	// codeUnknownOrgNode (400): there is no such location.
	codeUnknownOrgNode = "WFS-103901"
	// codeNoPeriod (400): there is no such symbolic period.
	codeNoPeriod = "WFS-104501"
	// codeBadReference (400): there is no such hyperfind query.
	codeBadReference = "WTK-147500"
)

// Limits of commons that the request itself passes; they are returned as they
// come.
const (
	codeFoundTooMany = "WCO-112003"
	codeFindDays     = "WCO-112010"
)

// Commons knows whom a hyperfind query and locations stand for, which days a symbolic
// period, and what locations are.
type Commons interface {
	ExecuteHyperfind(ctx context.Context, req *commonsv1.ExecuteHyperfindRequest, opts ...grpc.CallOption) (*commonsv1.HyperfindResponse, error)
	ReadSymbolicPeriod(ctx context.Context, req *commonsv1.ReadSymbolicPeriodRequest, opts ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error)
	ResolveLocations(ctx context.Context, req *commonsv1.ResolveLocationsRequest, opts ...grpc.CallOption) (*commonsv1.ResolveLocationsResponse, error)
}

// commons is Commons over a connection.
type commons struct {
	commonsv1.HyperfindServiceClient
	commonsv1.SymbolicPeriodServiceClient
	commonsv1.LocationServiceClient
}

// NewCommons returns the Commons that a connection leads to. The connection
// hands on whom the call is for: nobody is found whom they may not see.
func NewCommons(conn grpc.ClientConnInterface) Commons {
	return commons{commonsv1.NewHyperfindServiceClient(conn), commonsv1.NewSymbolicPeriodServiceClient(conn), commonsv1.NewLocationServiceClient(conn)}
}

// resolve finds what words of a request stand for: the days of a symbolic
// period, and the employees of a hyperfind query or of locations.
func (h *Handler) resolve(ctx context.Context, q *request.Query) error {
	if q.Period != nil {
		days, err := DaysOf(ctx, h.commons, q.Period)
		if err != nil {
			return err
		}
		q.Days = days
	}
	if q.Hyperfind == nil && len(q.Locations) == 0 {
		return nil
	}
	found, err := FindEmployees(ctx, h.commons, q.Hyperfind, q.Locations, q.Days)
	if err != nil {
		return err
	}
	q.Employees, q.Nobody = found, len(found.GetIds()) == 0
	return nil
}

// FindEmployees returns the employees, by id, whom a hyperfind query or locations
// stand for on some days. Nobody is found whom the caller may not see.
func FindEmployees(ctx context.Context, commons Commons, hyperfind *commonv1.Ref, locations []*commonv1.Ref, days civil.Range) (*commonv1.RefList, error) {
	found, err := commons.ExecuteHyperfind(ctx, &commonsv1.ExecuteHyperfindRequest{
		Hyperfind: hyperfind, Locations: locations, Threshold: proto.Int64(maxFound),
		// Who leaves inside of the range has a schedule until then.
		IncludeTerminatedInRangeForLocations: proto.Bool(len(locations) > 0),
		DateRange:                            &commonv1.DateRange{StartDate: days.From.String(), EndDate: (days.To - 1).String()},
	})
	switch {
	case err != nil && hyperfind != nil:
		return nil, unknown(err, codeBadReference, "Hyperfind query not found: "+request.Describe(hyperfind)+".")
	case err != nil:
		return nil, unknown(err, codeUnknownOrgNode, "Location not found. "+fault.FromError(err).Message)
	}
	out := &commonv1.RefList{}
	for _, ref := range found.GetResult().GetRefs().GetRefs() {
		out.Ids = append(out.Ids, ref.GetId())
	}
	return out, nil
}

// DaysOf returns the days of a symbolic period: today is that of the tenant.
func DaysOf(ctx context.Context, commons Commons, period *commonv1.Ref) (civil.Range, error) {
	name := period.GetQualifier()
	if period.Id != nil {
		name = strconv.FormatInt(period.GetId(), 10)
	}
	span, err := commons.ReadSymbolicPeriod(ctx, &commonsv1.ReadSymbolicPeriodRequest{
		Where: &commonsv1.SymbolicPeriodWhere{CurrentTenant: proto.Bool(true), SymbolicPeriodId: &name},
	})
	if err != nil {
		return civil.Range{}, unknown(err, codeNoPeriod, "Symbolic period not found: "+request.Describe(period)+".")
	}
	first, err := civil.ParseDate(span.GetStartDate())
	if err != nil {
		return civil.Range{}, err
	}
	last, err := civil.ParseDate(span.GetEndDate())
	return civil.Through(first, last), err
}

// unknown gives a refusal of commons the code and the text of this operation.
// Whatever is no refusal of what was named stays what it is.
func unknown(err error, code, text string) error {
	f := fault.FromError(err)
	named := f.Status == http.StatusBadRequest || f.Status == http.StatusNotFound
	if !named || slices.Contains([]string{codeFoundTooMany, codeFindDays}, f.Code) {
		return err
	}
	return fault.New(code, http.StatusBadRequest, text).WithCause(err)
}

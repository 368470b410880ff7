package schedule

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// mostFound is the most employees that commons finds at once: enough to say how
// many too many they are.
const mostFound = 50_000

// Limits of commons that the request itself passes; they are answered as they
// come.
const (
	codeFoundTooMany = "WCO-112003"
	codeFindDays     = "WCO-112010"
)

// Commons knows whom a hyperfind query and locations stand for, and which days
// a symbolic period.
type Commons interface {
	ExecuteHyperfind(ctx context.Context, req *commonsv1.ExecuteHyperfindRequest, opts ...grpc.CallOption) (*commonsv1.HyperfindAnswer, error)
	ReadSymbolicPeriod(ctx context.Context, req *commonsv1.ReadSymbolicPeriodRequest, opts ...grpc.CallOption) (*commonsv1.SymbolicPeriodSpan, error)
}

// commons is Commons over a connection.
type commons struct {
	commonsv1.HyperfindServiceClient
	commonsv1.SymbolicPeriodServiceClient
}

// NewCommons returns the Commons that a connection leads to. The connection
// hands on whom the call is for: nobody is found whom they may not see.
func NewCommons(conn grpc.ClientConnInterface) Commons {
	return commons{commonsv1.NewHyperfindServiceClient(conn), commonsv1.NewSymbolicPeriodServiceClient(conn)}
}

// resolve finds what words of a request stand for: the days of a symbolic
// period, and the employees of a hyperfind query or of locations.
func (h *Handler) resolve(ctx context.Context, q *query) error {
	if q.period != nil {
		days, err := h.daysOf(ctx, q.period)
		if err != nil {
			return err
		}
		q.days = days
	}
	if q.hyperfind == nil && len(q.locations) == 0 {
		return nil
	}
	answer, err := h.commons.ExecuteHyperfind(ctx, &commonsv1.ExecuteHyperfindRequest{
		Hyperfind: q.hyperfind, Locations: q.locations, Threshold: proto.Int64(mostFound),
		// Who leaves inside of the range has a schedule until then.
		IncludeTerminatedInRangeForLocations: proto.Bool(len(q.locations) > 0),
		DateRange:                            &commonv1.DateRange{StartDate: q.days.From.String(), EndDate: (q.days.To - 1).String()},
	})
	switch {
	case err != nil && q.hyperfind != nil:
		return unknown(err, codeBadReference, "Hyperfind query not found: "+describe(q.hyperfind)+".")
	case err != nil:
		return unknown(err, codeUnknownOrgNode, "Location not found. "+fault.FromError(err).Message)
	}
	refs := answer.GetResult().GetRefs().GetRefs()
	q.employees, q.nobody = &commonv1.RefList{}, len(refs) == 0
	for _, ref := range refs {
		q.employees.Ids = append(q.employees.Ids, ref.GetId())
	}
	return nil
}

// daysOf answers the days of a symbolic period: today is that of the tenant.
func (h *Handler) daysOf(ctx context.Context, period *commonv1.Ref) (civil.Range, error) {
	name := period.GetQualifier()
	if period.Id != nil {
		name = strconv.FormatInt(period.GetId(), 10)
	}
	span, err := h.commons.ReadSymbolicPeriod(ctx, &commonsv1.ReadSymbolicPeriodRequest{
		Where: &commonsv1.SymbolicPeriodWhere{CurrentTenant: proto.Bool(true), SymbolicPeriodId: &name},
	})
	if err != nil {
		return civil.Range{}, unknown(err, codeNoPeriod, "Symbolic period not found: "+describe(period)+".")
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

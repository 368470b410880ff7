// Package employeesearch asks commons for the employees of a hyperfind query or of locations. It is
// for operations whose clients expect the error codes of schedules.
package employeesearch

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// maxFound is the largest number of employees that commons finds at once. That suffices to state by
// how many a request exceeds its limit.
var maxFound = int64(policy.Max[*commonsv1.ExecuteHyperfindRequest]("employees in the response"))

// Codes of the specified API for objects that commons does not know.
const (
	// codeUnknownOrgNode (400): the location does not exist.
	codeUnknownOrgNode = "WFS-103901"
	// codeBadReference (400): the hyperfind query does not exist.
	codeBadReference = "WTK-147500"
)

// Limits of commons that the request itself exceeds; these errors are returned unchanged.
const (
	codeFoundTooMany = "WCO-112003"
	codeFindDays     = "WCO-112010"
)

// Commons executes hyperfind queries.
type Commons interface {
	ExecuteHyperfind(ctx context.Context, req *commonsv1.ExecuteHyperfindRequest, opts ...grpc.CallOption) (*commonsv1.HyperfindResponse, error)
}

// Find returns the ids of the employees of a hyperfind query or of locations on some days. It finds
// only persons that the caller may see.
func Find(ctx context.Context, commons Commons, hyperfind *commonv1.Ref, locations []*commonv1.Ref, days civil.Range) (*commonv1.RefList, error) {
	found, err := commons.ExecuteHyperfind(ctx, &commonsv1.ExecuteHyperfindRequest{
		Hyperfind: hyperfind, Locations: locations, Threshold: proto.Int64(maxFound),
		// An employee who leaves within the range has a schedule until then.
		IncludeTerminatedInRangeForLocations: proto.Bool(len(locations) > 0),
		DateRange:                            &commonv1.DateRange{StartDate: days.From.String(), EndDate: (days.To - 1).String()},
	})
	switch {
	case err != nil && hyperfind != nil:
		return nil, Unknown(err, codeBadReference, "Hyperfind query not found: "+Describe(hyperfind)+".")
	case err != nil:
		return nil, Unknown(err, codeUnknownOrgNode, "Location not found. "+fault.FromError(err).Message)
	}
	out := &commonv1.RefList{}
	for _, ref := range found.GetResult().GetRefs().GetRefs() {
		out.Ids = append(out.Ids, ref.GetId())
	}
	return out, nil
}

// Unknown replaces the code and the text of commons' error about an unknown object with those of
// the calling operation. It returns other errors unchanged.
func Unknown(err error, code, text string) error {
	f := fault.FromError(err)
	named := f.Status == http.StatusBadRequest || f.Status == http.StatusNotFound
	if !named || slices.Contains([]string{codeFoundTooMany, codeFindDays}, f.Code) {
		return err
	}
	return fault.New(code, http.StatusBadRequest, text).WithCause(err)
}

// Describe returns the name of a ref in error texts.
func Describe(ref *commonv1.Ref) string {
	if ref.Id != nil {
		return fmt.Sprintf("id %d", ref.GetId())
	}
	return fmt.Sprintf("%.100q", ref.GetQualifier())
}

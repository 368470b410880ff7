package hyperfind

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/policy"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/locationpath"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// defaultThreshold is the default maximum of persons in a response.
const defaultThreshold = 3500

// found limits the employees of a response, and the threshold that a request can set.
var found = policy.FindLimit[*commonsv1.ExecuteHyperfindRequest]("employees in the response")

// ExecuteHyperfind finds the persons of a stored query, of locations or of a list. It returns
// only persons whom the caller may see. The response carries its fields as bytes.
func (h *Handler) ExecuteHyperfind(ctx context.Context, req *commonsv1.ExecuteHyperfindRequest) (*commonsv1.HyperfindResponse, error) {
	days, err := h.days(ctx, req.GetDateRange())
	if err != nil {
		return nil, err
	}
	limit, err := checkThreshold(req.Threshold)
	if err != nil {
		return nil, err
	}
	visible, err := h.rules.Visible(rowvisibility.OnDays(ctx, days))
	if err != nil {
		return nil, err
	}
	root, err := h.selectedPersons(ctx, req, days, visible)
	if err != nil {
		return nil, err
	}
	if req.GetIsEmployee() {
		root = query.All(root, query.WithPayRule())
	}
	return h.response(ctx, root, days, visible, limit)
}

// TestHyperfindQuery finds the persons of a query that is not stored.
func (h *Handler) TestHyperfindQuery(ctx context.Context, req *commonsv1.TestHyperfindQueryRequest) (*commonsv1.HyperfindResponse, error) {
	days, err := h.days(ctx, req.GetDateRange())
	if err != nil {
		return nil, err
	}
	limit, err := checkThreshold(req.Threshold)
	if err != nil {
		return nil, err
	}
	if _, err := query.Parse(req.GetConstraints()); err != nil {
		return nil, err
	}
	if err := resolveContained(ctx, h.pool, req.GetConstraints(), false, query.Caller(ctx)); err != nil {
		return nil, err
	}
	root, err := parse(ctx, h.pool, req.GetConstraints(), days)
	if err != nil {
		return nil, err
	}
	visible, err := h.rules.Visible(rowvisibility.OnDays(ctx, days))
	if err != nil {
		return nil, err
	}
	return h.response(ctx, root, days, visible, limit)
}

func (h *Handler) response(ctx context.Context, root *query.Node, days civil.Range, visible rowvisibility.Set, limit int) (*commonsv1.HyperfindResponse, error) {
	var only []int64
	if !visible.All() {
		only = append([]int64{}, visible.IDs()...)
	}
	a := &response{limit: limit}
	if err := h.finder.executor.Run(ctx, root, days, only, a.add); err != nil {
		return nil, err
	}
	switch {
	case a.count <= limit:
		return a.message(ctx)
	case a.count > found.Max():
		return nil, found.Fault(a.count)
	}
	return nil, fault.Invalid(CodeTooMany, fmt.Sprintf("%d employees are found, more than the threshold of %d. "+
		"Ask for fewer, or with a higher threshold, up to %d.", a.count, limit, found.Max())).WithLimits(int64(a.count), int64(limit))
}

func checkThreshold(given *int64) (int, error) {
	switch {
	case given == nil:
		return defaultThreshold, nil
	case *given > int64(found.Max()):
		return 0, fault.OverLimit(CodeMost, http.StatusRequestEntityTooLarge, "threshold in the request", *given, int64(found.Max()), "Use a lower one.")
	}
	return int(*given), nil
}

// days returns the days of a request, from its dates or its symbolic period.
func (h *Handler) days(ctx context.Context, given *commonv1.DateRange) (civil.Range, error) {
	if given.GetSymbolicPeriod() != nil && (given.GetStartDate() != "" || given.GetEndDate() != "") {
		return civil.Range{}, fault.Invalid(CodeNoDays, "dateRange takes either startDate and endDate, or a symbolicPeriod, and not both.")
	}
	if given.GetSymbolicPeriod() != nil {
		return h.periods.Days(ctx, given.GetSymbolicPeriod())
	}
	if given.GetStartDate() == "" || given.GetEndDate() == "" {
		return civil.Range{}, fault.Invalid(CodeNoDays, "dateRange needs startDate and endDate, or a symbolicPeriod.")
	}
	first, err := structure.Day("dateRange.startDate", given.GetStartDate())
	if err != nil {
		return civil.Range{}, err
	}
	last, err := structure.Day("dateRange.endDate", given.GetEndDate())
	if err != nil {
		return civil.Range{}, err
	}
	if last < first {
		return civil.Range{}, fault.Invalid(fault.CodeInput, "dateRange.endDate is before startDate.")
	}
	return civil.Through(first, last), nil
}

// selectedPersons returns the condition for the persons of a request.
func (h *Handler) selectedPersons(ctx context.Context, req *commonsv1.ExecuteHyperfindRequest, days civil.Range, visible rowvisibility.Set) (*query.Node, error) {
	if err := fault.OneOf(CodeNoSelector, CodeSelectors, "The request", "hyperfind, locations and persons",
		req.GetHyperfind() != nil, len(req.GetLocations()) > 0, len(req.GetPersons()) > 0); err != nil {
		return nil, err
	}
	switch {
	case req.GetHyperfind() != nil:
		return h.storedCondition(ctx, req, days)
	case len(req.GetLocations()) > 0:
		return h.atLocations(ctx, req, days)
	default:
		return h.listedPersons(ctx, req.GetPersons(), visible)
	}
}

func (h *Handler) storedCondition(ctx context.Context, req *commonsv1.ExecuteHyperfindRequest, days civil.Range) (*query.Node, error) {
	q, err := find(ctx, h.pool, req.GetHyperfind(), query.Caller(ctx))
	if err != nil {
		return nil, err
	}
	return parse(ctx, h.pool, q.GetConstraints(), days)
}

// atLocations returns the condition for persons whose primary job is at one of the locations
// or below on some day. It excludes persons whose employment is terminated on the last day
// or, if the request includes employees terminated in the range, on all days.
func (h *Handler) atLocations(ctx context.Context, req *commonsv1.ExecuteHyperfindRequest, days civil.Range) (*query.Node, error) {
	for i, ref := range req.GetLocations() {
		if ref.Id == nil && ref.GetQualifier() == "" {
			return nil, fault.Invalid(CodeUnknownLocations, fmt.Sprintf("locations[%d] needs an id or a qualifier.", i))
		}
	}
	ids, err := locationpath.Resolve(ctx, h.pool, req.GetLocations(), days.To-1)
	if fault.HasCode(err, structure.CodeUnknown) {
		return nil, fault.Invalid(CodeUnknownLocations, fault.FromError(err).Message)
	}
	if err != nil {
		return nil, err
	}
	ended, onAll := civil.Range{From: days.To - 1, To: days.To}, false
	if req.GetIncludeTerminatedInRangeForLocations() {
		ended, onAll = days, true
	}
	return query.All(query.AtLocations(ids), query.Not(query.IsTerminated(ended, onAll))), nil
}

// listedPersons returns the persons of a list. A person whom the caller may not see is unknown.
func (h *Handler) listedPersons(ctx context.Context, refs []*commonv1.Ref, visible rowvisibility.Set) (*query.Node, error) {
	tenantID := tenant.Of(ctx)
	for i, ref := range refs {
		if ref.Id == nil && ref.GetQualifier() == "" {
			return nil, fault.Invalid(CodeUnknownPersons, fmt.Sprintf("persons[%d] needs an id or a qualifier.", i))
		}
	}
	unknown := func(ref *commonv1.Ref) error {
		return fault.Invalid(CodeUnknownPersons, fmt.Sprintf("There is no person with %s.", structure.Text(ref)))
	}
	there, err := structure.Resolve(refs, func(ids []int64, numbers []string) (pgx.Rows, error) {
		return h.pool.Query(ctx, `SELECT id, NULL FROM person WHERE tenant_id = $1 AND id = ANY($2)
			UNION ALL SELECT p.id, u.number
			FROM (SELECT number, person_by_number($1, number) AS id FROM unnest($3::text[]) AS named (number) OFFSET 0) AS u
			JOIN person p ON p.tenant_id = $1 AND p.id = u.id`,
			tenantID, ids, numbers)
	}, unknown)
	if err != nil {
		return nil, err
	}
	for i, id := range there {
		if !visible.Has(id) {
			authn.NoteNotVisible(ctx)
			return nil, unknown(refs[i])
		}
	}
	return query.Persons(there), nil
}

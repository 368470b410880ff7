package locationtype

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/civil"
	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// MultiReadLocationTypes returns types by exactly one criterion: named types in the order of
// the request, with 207 if some are unknown, or all types in list order. It leaves out types
// that are in effect on no day of the span and, if the request has modifiedSince, types that
// have not changed since.
func (h *Handler) MultiReadLocationTypes(ctx context.Context, req *commonsv1.MultiReadLocationTypesRequest) (*commonsv1.LocationTypeList, error) {
	refs, days, err := criterion(req.GetWhere())
	if err != nil {
		return nil, err
	}
	mapContext := req.GetWhere().GetSpan().GetContext()
	if !slices.Contains(mapContexts, mapContext) {
		return nil, structure.Invalid("where.span.context", "must be ORG or FORECAST")
	}
	since, err := structure.Since(req.GetMultiReadOptions())
	if err != nil {
		return nil, err
	}
	if err := addJobType(ctx, h.pool); err != nil {
		return nil, err
	}
	rows, err := h.pool.Query(ctx, `SELECT `+columns+` FROM location_type WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR updated_at >= $2)
		AND from_date < $5 AND to_date > $4 AND ($6 = '' OR map_context IN ('', $6))`+inOrder+` LIMIT $3`,
		tenant.Of(ctx), since, maxTypes, days.From, days.To, mapContext)
	if err != nil {
		return nil, err
	}
	fitting, err := pgx.CollectRows(rows, scan)
	if err != nil || refs == nil {
		return &commonsv1.LocationTypeList{LocationTypes: fitting}, err
	}
	fits := make(map[int64]bool, len(fitting))
	for _, t := range fitting {
		fits[t.GetId()] = true
	}
	find, err := typeFinder(ctx, h.pool, refs)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonv1.Ref, *commonsv1.LocationType]{}
	for _, ref := range refs {
		switch t := find(ref); {
		case t == nil:
			out.Fail(ref, unknownTypeError(ref))
		case fits[t.GetId()]:
			out.Succeed(ref, t)
		}
	}
	done, failure, err := rpc.BulkResult(ctx, out)
	return &commonsv1.LocationTypeList{LocationTypes: done, Failure: failure}, err
}

// criterion returns the types that a criterion names, nil if it means all, and the requested
// days.
func criterion(where *commonsv1.LocationTypeWhere) (refs []*commonv1.Ref, days civil.Range, err error) {
	days = civil.Range{From: civil.Beginning, To: civil.Forever}
	lists := &commonv1.RefList{Ids: where.GetIds(), Qualifiers: where.GetQualifiers(), Refs: where.GetRefs()}
	listed := reflist.Len(lists) > 0
	named := where.GetLocationTypeRefSpan()
	if err := fault.AtMostOne(structure.CodeOneCriterion, "where", "span, locationTypeRefSpan and a list of types",
		where.GetSpan() != nil, named != nil, listed); err != nil {
		return nil, days, err
	}
	switch {
	case where.GetSpan() != nil:
		days, err = structure.Span("where.span", where.GetSpan().GetStartDate(), where.GetSpan().GetEndDate())
		return nil, days, err
	case named != nil:
		if days, err = structure.Span("where.locationTypeRefSpan", named.GetStartDate(), named.GetEndDate()); err != nil {
			return nil, days, err
		}
		refs, err = structure.OneOrMore("where.locationTypeRefSpan.locationType", named.GetLocationTypeRef(), named.GetLocationTypeRefs())
		return refs, days, err
	}
	refs, err = structure.Refs("where", lists)
	return refs, days, err
}

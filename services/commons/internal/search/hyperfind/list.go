package hyperfind

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/rotaloom/rotaloom/pkg/domain/reflist"
	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/rpc"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
	"github.com/rotaloom/rotaloom/services/commons/internal/search/query"
	"github.com/rotaloom/rotaloom/services/commons/internal/structure"
)

// ListHyperfindQueries returns the queries that the caller may use.
func (h *Handler) ListHyperfindQueries(ctx context.Context, req *commonsv1.ListHyperfindQueriesRequest) (*commonsv1.HyperfindQueryList, error) {
	usage, err := usageType(req.GetUsageType(), "")
	if err != nil {
		return nil, err
	}
	user := query.Caller(ctx)
	found, err := list(ctx, h.pool, &user)
	if err != nil {
		return nil, err
	}
	return h.toList(ctx, found, usage, req.GetAllDetails())
}

// ListPublicHyperfindQueries returns the public queries.
func (h *Handler) ListPublicHyperfindQueries(ctx context.Context, req *commonsv1.ListPublicHyperfindQueriesRequest) (*commonsv1.HyperfindQueryList, error) {
	found, err := list(ctx, h.pool, nil)
	if err != nil {
		return nil, err
	}
	return h.toList(ctx, found, "", req.GetAllDetails())
}

func (h *Handler) toList(ctx context.Context, found []*storedQuery, usage string, details bool) (*commonsv1.HyperfindQueryList, error) {
	items := &commonsv1.HyperfindQueryItems{}
	for _, q := range found {
		if usage == "" || q.GetUsageType() == usage {
			items.Queries = append(items.Queries, q.message(details))
		}
	}
	return &commonsv1.HyperfindQueryList{HyperfindQueries: items}, nameContained(ctx, h.pool, items.GetQueries()...)
}

// message returns the query in the form of responses. Without details, it has no constraints.
func (q *storedQuery) message(details bool) *commonsv1.HyperfindQuery {
	if !details {
		q.Constraints = nil
	}
	return q.HyperfindQuery
}

// hasUsage reports whether a query has a usage type. "" matches all types, and built-in queries
// match every type.
func (q *storedQuery) hasUsage(usage string) bool {
	return usage == "" || q.GetUsageType() == usage || q.GetId() < firstOwnID
}

// GetHyperfindQuery returns one query, or 404.
func (h *Handler) GetHyperfindQuery(ctx context.Context, req *commonsv1.GetHyperfindQueryRequest) (*commonsv1.HyperfindQuery, error) {
	usage, err := usageType(req.GetUsageType(), usageHome)
	if err != nil {
		return nil, err
	}
	q, err := byID(ctx, h.pool, req.GetId(), query.Caller(ctx))
	if err != nil {
		return nil, err
	}
	if !q.hasUsage(usage) {
		return nil, fault.NotFound(CodeNotFound, fmt.Sprintf("The query with the id %d is not of the usage type %s. Ask with usage_type=ALL.", req.GetId(), usage))
	}
	out := q.message(req.GetAllDetails())
	return out, nameContained(ctx, h.pool, out)
}

// MultiReadHyperfindQueries returns queries in the order of the request, with 207 if some are
// unknown or not available to the caller.
func (h *Handler) MultiReadHyperfindQueries(ctx context.Context, req *commonsv1.MultiReadHyperfindQueriesRequest) (*commonsv1.HyperfindQueryList, error) {
	where := req.GetWhere()
	usage, err := usageType(where.GetUsageType(), usageHome)
	if err != nil {
		return nil, err
	}
	match, err := matchers(where.GetHyperFindQuery())
	if err != nil {
		return nil, err
	}
	user := query.Caller(ctx)
	known, err := list(ctx, h.pool, &user)
	if err != nil {
		return nil, err
	}
	out := &bulk.Outcome[*commonv1.Ref, *commonsv1.HyperfindQuery]{}
	for _, m := range match {
		var found *commonsv1.HyperfindQuery
		for _, q := range known {
			if m.is(q) && q.hasUsage(usage) {
				found = proto.CloneOf(q.HyperfindQuery)
			}
		}
		switch {
		case found == nil:
			out.Fail(m.ref, fault.Invalid(CodeNone, fmt.Sprintf("There is no hyperfind query with %s.", structure.Text(m.ref))))
			continue
		case !where.GetAllDetails():
			found.Constraints = nil
		}
		out.Succeed(m.ref, found)
	}
	if out.Failed() == len(out.Results) {
		return nil, fault.NotFound(CodeNone, "There are no such hyperfind queries.")
	}
	done, failure, err := rpc.BulkResultWithCode(ctx, out, CodeSome)
	if err == nil {
		err = nameContained(ctx, h.pool, done...)
	}
	return &commonsv1.HyperfindQueryList{HyperfindQueries: &commonsv1.HyperfindQueryItems{Queries: done}, Failure: failure}, err
}

// matcher matches the requested query. If a public query and one of the caller's own have the
// same name, the last match is the caller's, because list returns it last.
type matcher struct {
	ref *commonv1.Ref
	is  func(*storedQuery) bool
}

func matchers(refs *commonsv1.HyperfindQueryRefs) ([]matcher, error) {
	items, err := reflist.ExactlyOne(CodeWhere, "where.hyperFindQuery", refs)
	if err != nil {
		return nil, err
	}
	var out []matcher
	for _, id := range refs.GetPersistentIds() {
		out = append(out, matcher{&commonv1.Ref{Qualifier: &id}, func(q *storedQuery) bool { return q.GetPersistentId() == id }})
	}
	for i, ref := range items {
		if ref.Id == nil && ref.GetQualifier() == "" {
			return nil, fault.Invalid(CodeWhere, fmt.Sprintf("where.hyperFindQuery.refs[%d] needs an id or a qualifier.", i))
		}
		out = append(out, matcher{ref, func(q *storedQuery) bool {
			if ref.Id != nil {
				return q.GetId() == ref.GetId()
			}
			return q.GetName() == ref.GetQualifier()
		}})
	}
	return out, nil
}

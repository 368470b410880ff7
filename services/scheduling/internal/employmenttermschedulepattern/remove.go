package employmenttermschedulepattern

import (
	"context"

	"github.com/jackc/pgx/v5"

	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	schedulingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/scheduling/v1"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/fault/bulk"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// termOutcome is that of a request that names terms: each has as many results
// as it has assignments that are concerned.
type termOutcome = bulk.Outcome[*commonv1.Ref, *schedulingv1.GroupSchedulePatternResults]

// joined is flat for terms.
func joined(list []*schedulingv1.GroupSchedulePatternResults) results {
	var all results
	for _, r := range list {
		all = append(all, r.GetResults()...)
	}
	return all
}

// removeByTerms takes the days of u away from every assignment of the terms
// that it names. A term that is named twice has its results once.
func (h *Handler) removeByTerms(ctx context.Context, u *update, partial bool) (*termOutcome, int64, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, 0, err
	}
	terms, errs, err := h.findTerms(ctx, u.refs, partial)
	if err != nil {
		return nil, 0, err
	}
	var ids []int64
	for i, term := range terms {
		if errs[i] == nil {
			ids = append(ids, term.ID)
		}
	}
	expected := h.deps.Members.Expected(ctx, ids)
	var propagationID int64
	var byTerm map[int64]*schedulingv1.GroupSchedulePatternResults
	err = pg.InTx(ctx, h.deps.Pool, func(ctx context.Context, tx pgx.Tx) error {
		if err := lock(ctx, tx, tenantID, ids); err != nil {
			return err
		}
		now, err := current(ctx, tx, tenantID, ids, u.window)
		if err != nil {
			return err
		}
		edits := make([]edit, len(now))
		for i, a := range now {
			edits[i] = without(a, u.window)
		}
		var described results
		if described, propagationID, err = h.finish(ctx, tx, tenantID, now, edits, expected); err != nil {
			return err
		}
		byTerm = map[int64]*schedulingv1.GroupSchedulePatternResults{}
		for _, id := range ids {
			byTerm[id] = &schedulingv1.GroupSchedulePatternResults{}
		}
		for i, e := range edits {
			of := byTerm[e.before.termID]
			of.Results = append(of.Results, described[i])
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	out := &termOutcome{}
	for i, ref := range u.refs {
		if errs[i] != nil {
			out.Fail(ref, fault.FromError(errs[i]))
			continue
		}
		out.Succeed(ref, byTerm[terms[i].ID])
		byTerm[terms[i].ID] = &schedulingv1.GroupSchedulePatternResults{}
	}
	return out, propagationID, nil
}

package projection

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/replica"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
	timekeepingv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/timekeeping/v1"
)

const findTerms = `
SELECT u.position, t.id, t.name, t.allows_inheritance
FROM unnest($2::bigint[], $3::int[]) AS u (id, position)
JOIN employment_term t ON t.tenant_id = $1 AND t.id = u.id AND NOT t.deleted
UNION ALL
SELECT u.position, t.id, t.name, t.allows_inheritance
FROM unnest($4::text[], $5::int[]) AS u (name, position)
JOIN employment_term t ON t.tenant_id = $1 AND lower(t.name) = lower(u.name) AND NOT t.deleted`

// Terms returns the terms that refs name, in the same order. Names are compared
// without case. A ref that names no term is the error WFS-106607.
func (r *Resolver) Terms(ctx context.Context, refs []*commonv1.Ref) ([]Term, error) {
	tenantID, err := tenant.Of(ctx)
	if err != nil {
		return nil, err
	}
	var want lookupKeys
	for i, ref := range refs {
		if !want.add(ref, i) {
			return nil, fault.New(codeTermUnknown, http.StatusBadRequest, "An employment term is named by neither id nor qualifier.")
		}
	}
	terms := make([]Term, len(refs))
	missing, err := r.knownTerms(ctx, tenantID, want, terms)
	if err != nil || missing.empty() {
		return terms, err
	}
	if err := r.fetchTerms(ctx, tenantID, missing); err != nil {
		return nil, err
	}
	if missing, err = r.knownTerms(ctx, tenantID, missing, terms); err != nil {
		return nil, err
	}
	if !missing.empty() {
		return nil, unknownTerm(&missing)
	}
	return terms, nil
}

// knownTerms fills terms with those that are known, and returns what is
// missing. A name that two terms seem to have is missing.
func (r *Resolver) knownTerms(ctx context.Context, tenantID int64, want lookupKeys, terms []Term) (lookupKeys, error) {
	rows, err := r.pool.Query(ctx, findTerms, tenantID, want.ids, want.idPositions, want.keys, want.keyPositions)
	if err != nil {
		return lookupKeys{}, fmt.Errorf("projection: find employment terms: %w", err)
	}
	var position int32
	var term Term
	var suspects []int64
	matches := make([]int, len(terms))
	_, err = pgx.ForEachRow(rows, []any{&position, &term.ID, &term.Name, &term.AllowsInheritance}, func() error {
		if matches[position]++; matches[position] > 1 {
			suspects = append(suspects, terms[position].ID, term.ID)
		}
		terms[position] = term
		return nil
	})
	if err != nil {
		return lookupKeys{}, fmt.Errorf("projection: find employment terms: %w", err)
	}
	return want.missing(matches, suspects), nil
}

// fetchTerms asks timekeeping for terms and keeps what it returns.
func (r *Resolver) fetchTerms(ctx context.Context, tenantID int64, missing lookupKeys) error {
	return fetch(ctx, r.pool, missing, func(ids []int64, names []string) ([]*timekeepingv1.EmploymentTermChanged, error) {
		response, err := r.terms.ResolveEmploymentTerms(ctx, &timekeepingv1.ResolveEmploymentTermsRequest{Ids: ids, Names: names})
		return response.GetEmploymentTerms(), err
	}, func(ctx context.Context, tx pgx.Tx, states []*timekeepingv1.EmploymentTermChanged) error {
		return replica.Put(ctx, tx, r.copies.terms, tenantID, states)
	})
}

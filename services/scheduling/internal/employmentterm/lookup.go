package employmentterm

import (
	"context"
	"fmt"

	"github.com/rotaloom/rotaloom/pkg/fault"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/common/v1"
)

// codeRefUnknown (400): a ref of a schedule names no employment term. Send the id or the name of
// one.
const codeRefUnknown = "WFS-106607"

// Term is an employment term with the properties that schedules need.
type Term struct {
	ID   int64
	Name string
	// AllowsInheritance reports whether employees inherit the term's patterns.
	AllowsInheritance bool
}

// Lookup finds the terms of requests about schedules.
type Lookup struct{ pool *pg.Pool }

// NewLookup returns a Lookup in the database of the pool.
func NewLookup(pool *pg.Pool) *Lookup { return &Lookup{pool: pool} }

const findTerms = `
SELECT u.position, t.id, t.name, t.allows_inheritance
FROM unnest($2::bigint[], $3::int[]) AS u (id, position)
JOIN employment_term t ON t.tenant_id = $1 AND t.id = u.id
UNION ALL
SELECT u.position, t.id, t.name, t.allows_inheritance
FROM unnest($4::text[], $5::int[]) AS u (name, position)
JOIN employment_term t ON t.tenant_id = $1 AND lower(t.name) = lower(u.name)`

// Terms returns the terms of references, in the same order. The id of a reference takes precedence.
// Names are case-insensitive. An unknown term is the error WFS-106607.
func (l *Lookup) Terms(ctx context.Context, refs []*commonv1.Ref) ([]Term, error) {
	tenantID := tenant.Of(ctx)
	var ids []int64
	var names []string
	var idPositions, namePositions []int32
	for i, ref := range refs {
		switch {
		case ref != nil && ref.Id != nil:
			ids, idPositions = append(ids, ref.GetId()), append(idPositions, int32(i))
		case ref.GetQualifier() != "":
			names, namePositions = append(names, ref.GetQualifier()), append(namePositions, int32(i))
		default:
			return nil, fault.Invalid(codeRefUnknown, "A reference to an employment term has neither id nor qualifier.")
		}
	}
	terms, found := make([]Term, len(refs)), make([]bool, len(refs))
	var position int32
	var t Term
	if err := pg.ForEach(ctx, l.pool, []any{&position, &t.ID, &t.Name, &t.AllowsInheritance}, func() error {
		terms[position], found[position] = t, true
		return nil
	}, findTerms, tenantID, ids, idPositions, names, namePositions); err != nil {
		return nil, fmt.Errorf("find employment terms: %w", err)
	}
	for i, ref := range refs {
		if !found[i] {
			return nil, fault.Invalid(codeRefUnknown, "Employment term not found: "+describe(ref)+".")
		}
	}
	return terms, nil
}

// describe formats a reference for messages, and truncates long texts.
func describe(ref *commonv1.Ref) string {
	const limit = 100
	if ref.Id != nil {
		return fmt.Sprintf("id %d", ref.GetId())
	}
	return fmt.Sprintf("%.*q", limit, ref.GetQualifier())
}

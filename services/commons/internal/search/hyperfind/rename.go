package hyperfind

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
	commonsv1 "github.com/rotaloom/rotaloom/proto/gen/rotaloom/commons/v1"
)

// exactOperators are the operators whose values are complete names.
var exactOperators = []string{"EQUAL_TO", "NOT_EQUAL_TO", "IN", "NOT_IN"}

// RenameConditions replaces a name, compared without case, in the conditions of stored queries on a
// property.
func RenameConditions(ctx context.Context, tx pgx.Tx, key, from, to string) error {
	if err := lock(ctx, tx); err != nil {
		return err
	}
	queries, err := pg.Collect(ctx, tx, scan, `SELECT `+columns+` FROM hyperfind_query WHERE tenant_id = $1 ORDER BY id`, tenant.Of(ctx))
	if err != nil {
		return fmt.Errorf("read queries: %w", err)
	}
	for _, q := range queries {
		if !renameIn(q.GetConstraints(), key, from, to) {
			continue
		}
		if err := update(ctx, tx, q); err != nil {
			return fmt.Errorf("rename in query %d: %w", q.GetId(), err)
		}
	}
	return nil
}

// renameIn replaces a name in constraints and in the constraints within them, and reports whether it was
// there.
func renameIn(c *commonsv1.HyperfindConstraints, key, from, to string) (changed bool) {
	for _, f := range c.GetFilters() {
		changed = renameIn(f.GetConstraints(), key, from, to) || changed
		if !strings.EqualFold(f.GetKey(), key) || !slices.Contains(exactOperators, strings.ToUpper(f.GetOperator())) {
			continue
		}
		for i, value := range f.GetValues() {
			if value != to && strings.EqualFold(value, from) {
				f.Values[i], changed = to, true
			}
		}
	}
	return changed
}

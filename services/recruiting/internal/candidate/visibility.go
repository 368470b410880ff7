package candidate

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/rotaloom/rotaloom/services/recruiting/internal/record"
)

// Condition returns a condition for candidates that the caller may see for one reason, such as their
// applications. The row of the candidate is "r". It is used for callers with restricted rows only.
type Condition func(ctx context.Context) record.Condition

// Visible returns the condition for the candidates that the caller may see: all of them, or those that
// the caller's person created, and those that one of the other conditions permits.
func Visible(ctx context.Context, others ...Condition) record.Condition {
	person, restricted := record.Restricted(ctx)
	if !restricted {
		return record.Condition{}
	}
	visible := record.Condition{SQL: "r.creator_id = @candidate_creator", Args: pgx.NamedArgs{"candidate_creator": person}}
	for _, other := range others {
		c := other(ctx)
		visible.SQL = fmt.Sprintf("%s OR (%s)", visible.SQL, c.SQL)
		for name, value := range c.Args {
			visible.Args[name] = value
		}
	}
	return visible
}

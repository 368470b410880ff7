package hyperfind

import (
	"context"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/domain/rowvisibility"
	"github.com/rotaloom/rotaloom/pkg/fault"
)

// writable refuses to write a public query for callers who do not see all persons. A public
// query can be an employee group: callers who could change the query of their own group could
// give themselves access to any person.
func writable(ctx context.Context, q *storedQuery) error {
	p, ok := authn.From(ctx)
	if !q.public || !ok || p.IsService() || rowvisibility.Scope(p.Rows) == rowvisibility.All {
		return nil
	}
	return fault.Forbidden(fault.CodeNoAccess,
		"Public queries can be employee groups, so only users who see all employees can write them. Create a personal query.")
}

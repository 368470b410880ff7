// Package decider names the users who made changes of schedules, for callers who may read the audit
// log.
package decider

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rotaloom/rotaloom/pkg/authn"
	"github.com/rotaloom/rotaloom/pkg/pg"
	"github.com/rotaloom/rotaloom/pkg/tenant"
)

// readAuditLog is the permission that shows who decided.
const readAuditLog = "auth.audit_event.read"

// selectUsers finds the users in the audit log, which has the number of the change for each transaction that
// changes schedules.
const selectUsers = `
SELECT change_revision, user_name FROM audit_event
WHERE tenant_id = $1 AND change_revision = ANY($2) AND user_name <> '' AND outcome = 'ok'`

// Users are the names of the users who made changes, by the number of the change.
type Users map[int64]string

// Of returns the user who made the change at a time, or "".
func (u Users) Of(change time.Time) string { return u[change.UnixMicro()] }

// Read returns the users who made the changes at these times. Times come from rows that shape schedules. Read returns
// no users if the caller may not read the audit log. Changes without a user, and those whose row of the audit log is
// deleted, have no user.
func Read(ctx context.Context, db pg.Querier, changes ...time.Time) (Users, error) {
	if p, ok := authn.From(ctx); !ok || !p.Has(readAuditLog) || len(changes) == 0 {
		return nil, nil
	}
	revisions := make([]int64, len(changes))
	for i, change := range changes {
		revisions[i] = change.UnixMicro()
	}
	slices.Sort(revisions)
	users := Users{}
	var revision int64
	var user string
	err := pg.ForEach(ctx, db, []any{&revision, &user}, func() error {
		users[revision] = user
		return nil
	}, selectUsers, tenant.Of(ctx), slices.Compact(revisions))
	if err != nil {
		return nil, fmt.Errorf("decider: read the audit log: %w", err)
	}
	return users, nil
}
